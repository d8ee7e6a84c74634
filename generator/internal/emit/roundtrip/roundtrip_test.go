package roundtrip_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/emit/roundtrip"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// shop is a group whose v1beta1 is converted to v1, which is stored, partly by hand.
var shop = map[string]string{
	"v1/types.go": `// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Lamp struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec LampSpec ` + "`json:\"spec,omitempty\"`" + `
}

type LampSpec struct {
	Watts *int32 ` + "`json:\"watts,omitempty\"`" + `
	Color Color ` + "`json:\"color,omitempty\"`" + `
	// +apigen:conversion:preserve
	Extra []string ` + "`json:\"extra,omitempty\"`" + `
	// +apigen:conversion:drop
	Hidden string ` + "`json:\"hidden,omitempty\"`" + `
	Socket Socket ` + "`json:\"socket,omitempty\"`" + `
}

type Socket struct {
	A string ` + "`json:\"a,omitempty\"`" + `
	B string ` + "`json:\"b,omitempty\"`" + `
}

type Color string

const (
	Red  Color = "red"
	Blue Color = "blue"
)
`,
	"v1beta1/types.go": `// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
MARKER
type Lamp struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec LampSpec ` + "`json:\"spec,omitempty\"`" + `
}

type LampSpec struct {
	Watts int32 ` + "`json:\"watts\"`" + `
	// +apigen:conversion:name=Color
	Colour string ` + "`json:\"colour,omitempty\"`" + `
	Socket Socket ` + "`json:\"socket,omitempty\"`" + `
}

type Socket struct {
	Both string ` + "`json:\"both,omitempty\"`" + `
}
`,
	"v1beta1/conversion.go": `package v1beta1

import (
	"strings"

	"k8s.io/apimachinery/pkg/conversion"

	"example.com/shop/v1"
)

func Convert_v1beta1_Socket_To_v1_Socket(in *Socket, out *v1.Socket, s conversion.Scope) error {
	out.A, out.B, _ = strings.Cut(in.Both, "|")
	return nil
}

func Convert_v1_Socket_To_v1beta1_Socket(in *v1.Socket, out *Socket, s conversion.Scope) error {
	BODY
	return nil
}
`,
}

const (
	whole     = `if out.Both = in.A; in.B != "" { out.Both += "|" + in.B }`
	forgetful = `out.Both = in.A`
)

// build generates the shop in a module of its own.
func build(t *testing.T, marker, body string) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	loadtest.WriteModule(t, dir, "example.com/shop")
	for name, text := range shop {
		put(name, strings.NewReplacer("MARKER\n", marker, "BODY", body).Replace(text))
	}
	if _, err := generator.Build(context.Background(), generator.Options{Dir: dir, Env: env()}); err != nil {
		t.Fatal(report.Describe(err, dir))
	}
	return dir
}

func env() []string { return loadtest.Env("-mod=mod") }

// TestGeneratedTests checks that the generated tests of the shop pass, that they fail and name the field if a
// hand-written function forgets one, and that a marker leaves them out.
func TestGeneratedTests(t *testing.T) {
	dir := build(t, "", whole)
	file := filepath.Join(dir, "wiring", roundtrip.FileName)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"func FuzzRoundTripLampV1(f *testing.F)", "func FuzzRoundTripLampV1beta1(f *testing.F)",
		`roundtrip.FieldOf[shopv1.LampSpec]("Hidden")`, `roundtrip.FieldOf[shopv1.LampSpec]("Watts")`,
		"[]shopv1.Color{shopv1.Red, shopv1.Blue}",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if testing.Short() {
		return
	}
	if out, err := test(dir); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	conversion := filepath.Join(dir, "v1beta1/conversion.go")
	planted := strings.Replace(shop["v1beta1/conversion.go"], "BODY", forgetful, 1)
	if err := os.WriteFile(conversion, []byte(planted), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := test(dir)
	if err == nil || !strings.Contains(out,
		"the way from the hub to the version and back, at spec.socket.b: spec.socket.b: ") {
		t.Errorf("a forgotten field: %v\n%s", err, out)
	}
}

func test(dir string) (string, error) {
	command := exec.Command("go", "test", "-vet=off", "./wiring")
	command.Dir, command.Env = dir, env()
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestSwitchedOff(t *testing.T) {
	dir := build(t, "// +apigen:roundtrip=false\n", whole)
	text, err := os.ReadFile(filepath.Join(dir, "wiring", roundtrip.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "V1beta1") || !strings.Contains(string(text), "FuzzRoundTripLampV1(") {
		t.Errorf("%s", text)
	}
}
