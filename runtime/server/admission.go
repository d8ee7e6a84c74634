package server

import (
	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/meter"
)

// plugins returns the chain of the plug-ins that run, configured. Its calls are in the metrics.
func (c *Config) plugins(m *metrics) (*admission.Chain, error) {
	if c.AdmissionConfig != "" {
		if err := admission.Configure(c.AdmissionConfig, c.Admission); err != nil {
			return nil, err
		}
	}
	arranged, err := admission.Arrange(c.Admission, c.EnableAdmission, c.DisableAdmission)
	if err != nil || len(arranged) == 0 {
		return nil, err
	}
	admissions := meter.NewAdmissions()
	m.registry.MustRegister(admissions)
	return admission.NewChain(arranged, admissions.Observe), nil
}
