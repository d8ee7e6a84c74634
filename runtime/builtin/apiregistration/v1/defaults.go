package v1

// DefaultPort is the port of a Service where an APIService names none.
const DefaultPort int32 = 443

// SetDefaults_ServiceReference sets the port. It is not a default in the schema, as it is none in kube-apiserver's.
func SetDefaults_ServiceReference(ref *ServiceReference) {
	if ref.Port == nil {
		port := DefaultPort
		ref.Port = &port
	}
}
