package v1_test

import (
	"slices"
	"strings"
	"testing"

	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// remote is a valid APIService that names a Service.
func remote() *apiregistrationv1.APIService {
	port := apiregistrationv1.DefaultPort
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.shop.example.com"},
		Spec: apiregistrationv1.APIServiceSpec{
			Service: &apiregistrationv1.ServiceReference{Namespace: "shop", Name: "api", Port: &port},
			Group:   "shop.example.com", Version: "v1", GroupPriorityMinimum: 2000, VersionPriority: 10,
			CABundle: []byte("no certificates"),
		},
	}
}

func TestValidate(t *testing.T) {
	type service = apiregistrationv1.APIService
	for _, c := range []struct {
		name   string
		change func(s *service)
		want   []string
	}{
		{"valid", func(*service) {}, nil},
		{"the greatest numbers", func(s *service) {
			*s.Spec.Service.Port, s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = 65535, 20000, 1000
		}, nil},
		{"insecure", func(s *service) { s.Spec.InsecureSkipTLSVerify, s.Spec.CABundle = true, nil }, nil},
		{"local", func(s *service) { s.Spec.Service, s.Spec.CABundle = nil, nil }, nil},
		{"the core group", func(s *service) { s.Name, s.Spec.Group = "v1.", "" }, nil},
		{"another name", func(s *service) { s.Name = "v1.example.com" }, []string{
			`metadata.name: Invalid value: "v1.example.com": must be ` + "`spec.version+\".\"+spec.group`" +
				`: "v1.shop.example.com"`}},
		{"a name that fits into no URL", func(s *service) { s.Name = "a/b%" }, []string{
			`metadata.name: Invalid value: "a/b%": may not contain '/'`,
			`metadata.name: Invalid value: "a/b%": may not contain '%'`}},
		{"a generated name", func(s *service) { s.Name, s.GenerateName = "", "v1." }, []string{
			`metadata.generateName: Invalid value: "v1.": must be ` + "`spec.version+\".\"+spec.group`" +
				`: "v1.shop.example.com"`}},
		{"no group", func(s *service) { s.Name, s.Spec.Group, s.Spec.Version = "v2.", "", "v2" }, []string{
			"spec.group: Required value: only v1 may have an empty group and it better be legacy kube"}},
		{"a group in capitals", func(s *service) { s.Name, s.Spec.Group = "v1.Shop", "Shop" }, []string{
			`spec.group: Invalid value: "Shop": a lowercase RFC 1123 subdomain must consist of lower case ` +
				`alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. ` +
				`'example.com', regex used for validation is ` +
				`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{"a number as a version", func(s *service) {
			s.Name, s.Spec.Version = "1.shop.example.com", "1"
		}, []string{
			`spec.version: Invalid value: "1": a DNS-1035 label must consist of lower case alphanumeric characters ` +
				`or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',` +
				`  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`}},
		{"no priorities", func(s *service) { s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = 0, 0 }, []string{
			"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
			"spec.versionPriority: Invalid value: 0: must be positive and less than 1000"}},
		{"priorities too great", func(s *service) {
			s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = 20001, 1001
		}, []string{
			"spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
			"spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"}},
		{"local, with what is for others", func(s *service) {
			s.Spec.Service, s.Spec.InsecureSkipTLSVerify = nil, true
		}, []string{
			`spec.caBundle: Invalid value: "15 bytes": local APIServices may not have a caBundle`,
			"spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"}},
		{"an empty Service", func(s *service) { s.Spec.Service = &apiregistrationv1.ServiceReference{} }, []string{
			"spec.service.namespace: Required value", "spec.service.name: Required value",
			"spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"}},
		{"a port too great", func(s *service) { *s.Spec.Service.Port = 65536 }, []string{
			"spec.service.port: Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive"}},
		{"insecure, with a bundle", func(s *service) { s.Spec.InsecureSkipTLSVerify = true }, []string{
			"spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := remote()
			c.change(s)
			var got []string
			for _, err := range s.Validate(t.Context()) {
				got = append(got, err.Error())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestValidateStatus(t *testing.T) {
	s := remote()
	s.Status.Conditions = []apiregistrationv1.APIServiceCondition{
		{Type: "A", Status: "True"}, {Type: "A", Status: "False"}, {Status: "Unknown"}, {Type: "B", Status: "true"},
	}
	const want = `status.conditions[3].status: Unsupported value: "true": supported values: "True", "False", "Unknown"`
	if errs := s.ValidateStatusUpdate(t.Context(), remote()); len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}
