package v1alpha1

// SetDefaults_BookSpec is called for every book that comes in this version.
func SetDefaults_BookSpec(spec *BookSpec) {
	if spec.Genre == "" {
		spec.Genre = "Fiction"
	}
}
