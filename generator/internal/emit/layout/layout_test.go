package layout

import (
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/clientset"
)

func TestQualifiers(t *testing.T) {
	src := "// a.b\nfunc f() {\nx := y.z.w + \"c.d\" + `e.f\ng.h` + \"\\\"i.j\" // k.l\n}\n" +
		"var m n.O = p(q.R{s: t.U}, &v1.W{})\n"
	got := qualifiers([]byte(src))
	for _, name := range []string{"y", "n", "q", "t", "v1"} {
		if !got[name] {
			t.Errorf("%s is used", name)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("said to be used: %v", got)
	}
}

func TestImportNames(t *testing.T) {
	s := &clientset.Set{Clients: &model.Clients{Path: "example.com/client", Dir: "/x"}}
	f := (&Writer{Plan: &plan.Plan{}}).File(s, "example.com/client/x", "x", "")
	for _, test := range [][2]string{
		{"k8s.io/apimachinery/pkg/apis/meta/v1", "metav1"}, {"k8s.io/api/core/v1", "corev1"},
		{"example.com/other/core/v1", "corev12"}, {"k8s.io/apimachinery/pkg/util/intstr", "intstr"},
		{"example.com/value", "value2"}, {"example.com/func", "func2"},
		{"example.com/client/x", ""},
	} {
		want := "T"
		if test[1] != "" {
			want = test[1] + ".T"
		}
		if got := f.Qualify(&model.Package{Path: test[0]}, "T"); got != want {
			t.Errorf("%s: got %s, want %s", test[0], got, want)
		}
	}
}

func FuzzQualifiers(f *testing.F) {
	f.Add("x.y `\"")
	f.Add("\"\\")
	f.Fuzz(func(_ *testing.T, src string) { qualifiers([]byte(src)) })
}
