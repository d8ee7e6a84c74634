package v1alpha1

// SetDefaults_BookSpec sets the genre of books that clients send in this version.
func SetDefaults_BookSpec(spec *BookSpec) {
	if spec.Genre == "" {
		spec.Genre = "Fiction"
	}
}
