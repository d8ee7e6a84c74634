package admission_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/admission"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func named(names ...string) (plugins []admission.Plugin) {
	for _, name := range names {
		plugins = append(plugins, admission.Plugin{Name: name, Off: strings.HasSuffix(name, "Enforcement")})
	}
	return plugins
}

func TestArrange(t *testing.T) {
	all := named("ResourceQuota", "Mine", "ValidatingAdmissionWebhook", "OwnerReferencesPermissionEnforcement",
		"LimitRanger", "Yours", "NamespaceLifecycle", "MutatingAdmissionPolicy")
	cases := []struct {
		name            string
		enable, disable []string
		want, err       string
	}{
		{"kube-apiserver's order, the author's own before policies", nil, nil, "NamespaceLifecycle LimitRanger Mine " +
			"Yours MutatingAdmissionPolicy ValidatingAdmissionWebhook ResourceQuota", ""},
		{"on and off", []string{"OwnerReferencesPermissionEnforcement"}, []string{"LimitRanger", "Yours"},
			"NamespaceLifecycle OwnerReferencesPermissionEnforcement Mine MutatingAdmissionPolicy " +
				"ValidatingAdmissionWebhook ResourceQuota", ""},
		{"unknown", []string{"Nobody"}, nil, "",
			`--enable-admission-plugins: this server has no admission plug-in "Nobody"`},
		{"both", []string{"Mine"}, []string{"Mine"}, "", `"Mine" is in --enable-admission-plugins and in`},
	}
	for _, c := range cases {
		run, err := admission.Arrange(all, c.enable, c.disable)
		var names []string
		for _, p := range run {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != c.want ||
			(err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
	if _, err := admission.Arrange(named("A", "A"), nil, nil); err == nil {
		t.Error("two plug-ins have one name")
	}
}

// A plug-in that changes the object has all run a second time, and no third.
func TestReinvoke(t *testing.T) {
	var calls []string
	plugin := func(name string) admission.Plugin {
		return admission.Plugin{Name: name, Admit: func(_ context.Context, a *admission.Attributes) error {
			call := name
			if a.IsReinvoked() {
				call += " again, " + a.ReinvocationValue(name).(string)
			}
			calls = append(calls, call)
			a.SetReinvocationValue(name, "kept")
			if name == "b" {
				a.Reinvoke()
			}
			return nil
		}}
	}
	chain := admission.NewChain([]admission.Plugin{plugin("a"), plugin("b")}, nil)
	if err := chain.Admit(t.Context(), new(admission.Attributes)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "a again, kept", "b again, kept"}; !slices.Equal(calls, want) {
		t.Error(calls)
	}
	if err := admission.NewChain(nil, nil).Validate(t.Context(), new(admission.Attributes)); err != nil {
		t.Error(err)
	}
}

// An error without a status is 403; the observer is told of every call, and of all together.
func TestErrors(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "x"}, "y", errors.New("z"))
	for _, c := range []struct {
		err  error
		want string
	}{{errors.New("no"), `pods "p" is forbidden: no`}, {conflict, conflict.Error()}} {
		var told []string
		chain := admission.NewChain([]admission.Plugin{
			{Name: "n", Validate: func(context.Context, *admission.Attributes) error { return c.err }},
		}, func(p *admission.Plugin, _ *admission.Attributes, mutating bool, call admission.Call) {
			name := "all"
			if p != nil {
				name = p.Name
			}
			if told = append(told, name); mutating || call.Err == nil {
				t.Error(name, mutating, call)
			}
		})
		a := &admission.Attributes{Name: "p", Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
		if err := chain.Validate(t.Context(), a); err == nil || err.Error() != c.want ||
			!slices.Equal(told, []string{"n", "all"}) {
			t.Error(err, told)
		}
	}
}

func TestConfigure(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("part.yaml", "a: 1\n")
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	cases := []struct{ name, text, got, err string }{
		{"inline", head + "- name: P\n  configuration: {b: 2}\n", `{"b":2}`, ""},
		{"path", head + "- name: P\n  path: part.yaml\n", `{"a":1}`, ""},
		{"unknown", head + "- name: Q\n", "", `plug-in "Q": this server has no such admission plug-in`},
		{"takes none", head + "- name: None\n", "", `plug-in "None": it takes no configuration`},
		{"twice", head + "- name: P\n- name: P\n", "{}", "stands twice"},
		{"kind", "kind: X\n", "", `write AdmissionConfiguration`},
		{"field", head + "- name: P\n  settings: {}\n", "", "settings"},
		{"no part", head + "- name: P\n  path: nowhere.yaml\n", "", "nowhere.yaml"},
	}
	for _, c := range cases {
		got := ""
		err := admission.Configure(write("config.yaml", c.text), []admission.Plugin{{Name: "None"}, {
			Name: "P", Configure: func(configuration []byte, at string) error {
				if got = string(configuration); at != dir {
					t.Error(at)
				}
				return nil
			},
		}})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) ||
			c.err == "" && got != c.got {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}
