package resolve_test

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/program"
)

// TestFieldsWithoutTags: of a version's types, fields without a tag beside tagged ones are told, with the name that
// they would customarily have; internal types are never on the wire.
func TestFieldsWithoutTags(t *testing.T) {
	dir := loadtest.Dir(t, `
-- shop/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package shop

type Lamp struct {
	DNSNames []string
	Color    string `+"`json:\"color\"`"+`
}
-- shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

type Lamp struct {
	DNSNames []string
	Color    string `+"`json:\"color\"`"+`
}
`)
	res, err := program.Read(t.Context(), program.Options{Options: load.Options{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "types.go:6:2: field DNSNames is called \"DNSNames\" on the wire, since it has no tag: write " +
		"`json:\"dnsNames\"`"
	if len(res.Warnings) != 1 || !strings.HasSuffix(res.Warnings[0].Error(), "v1/"+want) {
		t.Errorf("the warnings are\n%v", res.Warnings)
	}
}

// TestTwoStorageVersions: where two versions are marked, a lenient run stores the one that clients prefer.
func TestTwoStorageVersions(t *testing.T) {
	var source strings.Builder
	for _, v := range []string{"v1", "v1beta1"} {
		source.WriteString(`
-- api/` + v + `/types.go --
// +groupName=shop.example.com
// +kubebuilder:object:generate=true
package ` + v + `

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
`)
	}
	dir := loadtest.Dir(t, source.String())
	const fault = "kind Lamp has two storage versions, v1 and v1beta1: mark one with +kubebuilder:storageversion"
	if _, err := program.Read(t.Context(), program.Options{Options: load.Options{Dir: dir}}); err == nil ||
		!strings.Contains(err.Error(), fault) {
		t.Errorf("the error is %v", err)
	}
	res, err := program.Read(t.Context(), program.Options{Options: load.Options{Dir: dir, Lenient: true}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Warnings.Error(), fault) {
		t.Errorf("the warnings are %v", res.Warnings)
	}
	if stored := res.Program.Groups[0].Resources[0].Storage.Name; stored != "v1" {
		t.Errorf("%s is stored", stored)
	}
}
