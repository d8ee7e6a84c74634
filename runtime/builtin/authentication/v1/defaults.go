package v1

import authenticationv1 "k8s.io/api/authentication/v1"

// SetDefaults_TokenRequestSpec lets a token live for an hour.
func SetDefaults_TokenRequestSpec(spec *authenticationv1.TokenRequestSpec) {
	if seconds := int64(60 * 60); spec.ExpirationSeconds == nil {
		spec.ExpirationSeconds = &seconds
	}
}
