package clientset_test

import (
	"errors"
	"strings"
	"testing"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/clientset"
)

// kind is the source of a kind of that name, with markers, and of its list.
func kind(name, markers string) string {
	return markers + `// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ` + name + ` struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ` + name + `List struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items           []` + name + ` ` + "`json:\"items\"`" + `
}
`
}

// version is the source of a version's package.
func version(dir, name, markers, kinds string) string {
	return "-- " + dir + "/types.go --\n" + markers + "package " + name +
		"\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n" + kinds
}

const marked = "-- apis/doc.go --\n// +apigen:clients\npackage apis\n"

func sets(t *testing.T, archive string) ([]*clientset.Set, error) {
	t.Helper()
	p := plan.New(loadtest.Program(t, archive))
	return p.ClientSets, p.ClientFaults.Err()
}

func TestNamesAndPlaces(t *testing.T) {
	all, err := sets(t, marked+
		version("apis/wardle/v1beta1", "v1beta1", "// +groupName=wardle.example.com\n",
			kind("Policy", "// +genclient\n// +genclient:nonNamespaced\n")+kind("Unasked", ""))+
		version("apis/core/v1", "v1", "// +groupName=\n", kind("Endpoints", "// +genclient\n"))+
		version("other/v1", "v1", "// +groupName=other.example.com\n", kind("Other", "// +genclient\n")))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sets, %v", len(all), err)
	}
	s := all[0]
	root := loadtest.Module + "/client"
	if s.Path != root || len(s.Groups) != 2 || len(s.Versions()) != 2 || len(s.Versions()[1].Kinds) != 1 {
		t.Fatalf("the set: %+v", s)
	}
	core, wardle := s.Versions()[0], s.Versions()[1]
	endpoints, policy := core.Kinds[0], wardle.Kinds[0]
	for _, test := range [][2]string{
		{wardle.GoName(), "WardleV1beta1"}, {core.GoName(), "CoreV1"}, {core.Field(), "coreV1"},
		{wardle.APIPath(), "/apis"}, {core.APIPath(), "/api"}, {core.GroupVersion(), "v1"},
		{wardle.TypedPath, root + "/clientset/versioned/typed/wardle/v1beta1"},
		{wardle.ListerPath, root + "/listers/wardle/v1beta1"},
		{wardle.InformerPath, root + "/informers/externalversions/wardle/v1beta1"},
		{core.ApplyPath, root + "/applyconfiguration/core/v1"},
		{policy.Plural(), "Policies"}, {policy.Private(), "policies"}, {policy.Resource, "policies"},
		{policy.IfNamespaced("namespace string"), ""},
		{endpoints.Plural(), "Endpoints"}, {endpoints.IfNamespaced("namespace string"), "namespace string"},
		{endpoints.Generic(), "ClientWithListAndApply" +
			"[*corev1.Endpoints, *corev1.EndpointsList, *applycorev1.EndpointsApplyConfiguration]"},
		{wardle.AddToScheme, "AddToScheme"},
	} {
		if test[0] != test[1] {
			t.Errorf("got %s, want %s", test[0], test[1])
		}
	}
}

// A group without +groupName is the folder's, as client-gen has it, or that of the constant GroupName.
func TestUnmarkedGroup(t *testing.T) {
	all, _ := sets(t, marked+ // the fault is that nothing registers the types
		version("apis/apps/v1", "v1", "", kind("Thing", "// +genclient\n"))+
		version("apis/net/v1", "v1", "", "const GroupName = \"net.example.com\"\n\n"+kind("Link", "// +genclient\n")))
	if len(all) != 1 || len(all[0].Groups) != 2 {
		t.Fatalf("sets %+v", all)
	}
	if a, b := all[0].Groups[0].Name, all[0].Groups[1].Name; a != "apps" || b != "net.example.com" {
		t.Errorf("the groups are %q and %q", a, b)
	}
}

// Groups in folders of the same name lie in folders of their own.
func TestFoldersOfTheSameName(t *testing.T) {
	all, err := sets(t, marked+
		version("apis/a/api/v1", "v1", "// +groupName=one.example.com\n", kind("One", "// +genclient\n"))+
		version("apis/b/api/v1", "v1", "// +groupName=two.example.com\n", kind("Two", "// +genclient\n")))
	if err != nil || len(all) != 1 || len(all[0].Groups) != 2 {
		t.Fatalf("sets %+v, %v", all, err)
	}
	if a, b := all[0].Groups[0].Folder, all[0].Groups[1].Folder; a != "one" || b != "two" {
		t.Errorf("the folders are %s and %s", a, b)
	}
}

// hiding is the source of a kind with a field of its spec.
func hiding(field string) string {
	return strings.Replace(kind("One", "// +genclient\n"), "\n}\n", "\n\tSpec Spec `json:\"spec\"`\n}\n", 1) +
		"\ntype Spec struct {\n\t" + field + "\n}\n\n"
}

func TestFaults(t *testing.T) {
	group := "// +groupName=shop.example.com\n"
	for name, test := range map[string]struct{ archive, want string }{
		"two groups, one name": {version("apis/a/v1", "v1", group, kind("One", "// +genclient\n")) +
			version("apis/b/v1", "v1", "// +groupName=shop.example.org\n", kind("Two", "// +genclient\n")),
			"both called Shop in Go"},
		"no list": {
			version("apis/a/v1", "v1", group,
				strings.NewReplacer("OneList", "Many", "Items", "Things").Replace(kind("One", "// +genclient\n"))),
			"has no type of its lists",
		},
		"apply of another's": {version("apis/a/v1", "v1", group, kind("One", "// +genclient\n"+
			"// +genclient:method=ApplyMeta,verb=apply,subresource=meta,"+
			"input=k8s.io/apimachinery/pkg/apis/meta/v1.Status\n")),
			"+apigen:clients:external=k8s.io/apimachinery/pkg/apis/meta/v1:"},
		"an embedded type that isn't exported": {version("apis/a/v1", "v1", group, hiding("common")+
			"type common struct {\n\tName string `json:\"name\"`\n}\n"),
			"Spec embeds common, which is not exported, and generated clients are packages of their own: " +
				"call it Common"},
		"a type of a list that isn't exported": {version("apis/a/v1", "v1", group,
			hiding("Modes map[string][]*mode `json:\"modes\"`")+"type mode string\n"),
			"Spec.Modes has the type mode, which is not exported, and generated clients are packages of their own: " +
				"call it Mode"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sets(t, marked+test.archive)
			var list diag.Errors
			if !errors.As(err, &list) || len(list) != 1 || !strings.Contains(list[0].Message, test.want) ||
				!list[0].Pos.IsValid() {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// What a hand-written file beside the generated ones declares is left to it.
func TestExpansions(t *testing.T) {
	all, err := sets(t, marked+
		version("apis/shop/v1", "v1", "// +groupName=shop.example.com\n",
			kind("One", "// +genclient\n")+kind("Two", "// +genclient\n"))+
		"-- client/clientset/versioned/typed/shop/v1/one_expansion.go --\npackage v1\n\n"+
		"type OneExpansion interface{ More() }\n"+
		"-- client/listers/shop/v1/zz_generated.listers.go --\n"+emit.Marker+
		"\n\npackage v1\n\ntype TwoListerExpansion interface{}\n")
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sets, %v", len(all), err)
	}
	one, two := all[0].Versions()[0].Kinds[0], all[0].Versions()[0].Kinds[1]
	if one.Expands(one.Version.TypedPath, "Expansion") || !two.Expands(two.Version.TypedPath, "Expansion") ||
		!one.Expands(one.Version.ListerPath, "ListerExpansion") ||
		!two.Expands(two.Version.ListerPath, "ListerExpansion") {
		t.Error("the wrong expansions are declared")
	}
}

// TestVerbsOfServer: a client has no methods for what the server doesn't serve.
func TestVerbsOfServer(t *testing.T) {
	all, err := sets(t, marked+version("apis/shop/v1", "v1", "// +groupName=shop.example.com\n",
		kind("Widget", "// +genclient\n// +apigen:verbs=get;list;patch\n")))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sets, %v", len(all), err)
	}
	widget := all[0].Versions()[0].Kinds[0]
	if got := strings.Join(widget.Verbs, " "); got != "get list patch apply" || widget.Informed() {
		t.Errorf("the client has the verbs %s", got)
	}
}
