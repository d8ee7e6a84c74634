package server

import (
	"apigen.dev/runtime/admission"
)

// plugins returns the chain of the plug-ins that run, configured.
func (c *Config) plugins() (*admission.Chain, error) {
	if c.AdmissionConfig != "" {
		if err := admission.Configure(c.AdmissionConfig, c.Admission); err != nil {
			return nil, err
		}
	}
	arranged, err := admission.Arrange(c.Admission, c.EnableAdmission, c.DisableAdmission)
	if err != nil {
		return nil, err
	}
	return admission.NewChain(arranged, c.ObserveAdmission), nil
}
