package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl is the command, with a server to talk to and a home of its own. In its methods, the first argument is split
// at spaces, the others are as they are.
type kubectl struct {
	t     *testing.T
	path  string
	env   []string
	stdin string
}

func newKubectl(t *testing.T) *kubectl {
	t.Helper()
	t.Parallel()
	kubeconfig, err := os.ReadFile(startMemory(t).kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return newKubectlFor(t, kubeconfig)
}

// newKubectlFor is kubectl with a kubeconfig.
func newKubectlFor(t *testing.T, kubeconfig []byte) *kubectl {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl on this machine: ", err)
	}
	home := t.TempDir()
	file := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return &kubectl{t: t, path: path, env: append(os.Environ(), "KUBECONFIG="+file, "HOME="+home, "KUBECACHEDIR="+home,
		"KUBECTL_EXTERNAL_DIFF=diff -u -N")}
}

// with is kubectl with something on its standard input.
func (k *kubectl) with(stdin string) *kubectl {
	other := *k
	other.stdin = stdin
	return &other
}

func (k *kubectl) command(ctx context.Context, first string, rest ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, k.path, append(strings.Fields(first), rest...)...)
	command.Env = k.env
	command.Stdin = strings.NewReader(k.stdin)
	return command
}

// run bounds a command, so that one that hangs fails and nothing else.
func (k *kubectl) run(first string, rest ...string) (stdout, stderr string, err error) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), bound)
	defer cancel()
	command := k.command(ctx, first, rest...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	if ctx.Err() != nil {
		k.t.Fatalf("kubectl %s %q hangs\n%s%s", first, rest, &out, &errs)
	}
	return out.String(), errs.String(), err
}

// ok runs what must succeed, and returns its standard output.
func (k *kubectl) ok(first string, rest ...string) string {
	k.t.Helper()
	stdout, stderr, err := k.run(first, rest...)
	if err != nil {
		k.t.Fatalf("kubectl %s %q: %v\n%s%s", first, rest, err, stdout, stderr)
	}
	return stdout
}

// says runs what must succeed and print a text.
func (k *kubectl) says(want, first string, rest ...string) {
	k.t.Helper()
	if out := k.ok(first, rest...); !strings.Contains(out, want) {
		k.t.Errorf("kubectl %s %q does not say %q:\n%s", first, rest, want, out)
	}
}

// fails runs what must fail with a text.
func (k *kubectl) fails(want, first string, rest ...string) {
	k.t.Helper()
	stdout, stderr, err := k.run(first, rest...)
	if err == nil || !strings.Contains(stdout+stderr, want) {
		k.t.Errorf("kubectl %s %q: %v, and it does not say %q:\n%s%s", first, rest, err, want, stdout, stderr)
	}
}

// is compares all that is printed.
func (k *kubectl) is(want, first string, rest ...string) {
	k.t.Helper()
	if out := strings.TrimSpace(k.ok(first, rest...)); out != want {
		k.t.Errorf("kubectl %s %q says:\n%s\nwant:\n%s", first, rest, out, want)
	}
}

func manifest(name, refers string) string {
	return `
apiVersion: wardle.example.com/v1beta1
kind: Flunder
metadata:
  name: ` + name + `
  labels: {app: ` + name + `}
spec:
  flunderReference: ` + refers + `
  referenceType: Flunder
---
`
}

func emma(title string) string {
	return `
apiVersion: library.example.com/v1
kind: Book
metadata: {name: emma}
spec:
  title: ` + title + `
  pages: 474
  authors: [{given: Jane, family: Austen}]
`
}

func TestKubectlDiscovers(t *testing.T) {
	k := newKubectl(t)
	k.says("flunders", "api-resources")
	k.says("bk", "api-resources --api-group=library.example.com --namespaced -o wide")
	k.is("fischers.wardle.example.com", "api-resources --namespaced=false -o name")
	k.is("library.example.com/v1\nlibrary.example.com/v1alpha1\nwardle.example.com/v1alpha1\n"+
		"wardle.example.com/v1beta1", "api-versions")
	k.says("flunderReference\t<string>", "explain flunders --recursive")
	k.says("A name of another flunder or fischer",
		"explain flunders.spec.reference --api-version=wardle.example.com/v1alpha1")
	k.says("Fiction", "explain book.spec.genre")
	k.says("Server Version", "version")
	k.fails("the server doesn't have a resource type \"services\"", "cluster-info")
	k.says(`"gitVersion"`, "get --raw /version")
	k.is("ok", "get --raw /readyz")
	k.fails("", "auth can-i create flunders") // there is no such group here; it must not hang or crash
	k.fails("the server doesn't have a resource type", "get nonsense")
}

func TestKubectlReads(t *testing.T) {
	k := newKubectl(t)
	k.with(manifest("b", "x") + manifest("c", "w") + manifest("a", "z")).ok("create -f -")
	k.with(emma("Emma")).ok("create -f -")
	k.says("NAME", "get flunders")
	k.is("flunder.wardle.example.com/a\nflunder.wardle.example.com/b\nflunder.wardle.example.com/c",
		"get flunders -o name")
	k.says("flunderReference: z", "get flunder a -o yaml")
	var object struct{ Kind string }
	if err := json.Unmarshal([]byte(k.ok("get flunders -o json")), &object); err != nil || object.Kind != "List" {
		t.Errorf("a list as JSON: %+v, %v", object, err)
	}
	k.is("NAME   REF\na      z\nb      x\nc      w",
		"get flunders --sort-by=.metadata.name -o custom-columns=NAME:.metadata.name,REF:.spec.flunderReference")
	k.is("w x z", "get flunders --sort-by=.spec.flunderReference -o", `jsonpath={.items[*].spec.flunderReference}`)
	k.is("flunder.wardle.example.com/a\nflunder.wardle.example.com/b\nflunder.wardle.example.com/c",
		"get flunders --chunk-size=1 -o name")
	k.is("flunder.wardle.example.com/b", "get flunders -l app=b -o name")
	k.is("flunder.wardle.example.com/c", "get flunders --field-selector metadata.name=c -o name")
	k.is("book.library.example.com/emma", "get bk --field-selector spec.genre=Fiction -o name")
	k.fails("field label not supported", "get books --field-selector spec.title=Emma")
	k.says("reference: z", "get flunders.v1alpha1.wardle.example.com a -o yaml")
	k.says("Jane Austen", "get book emma")
	if header, _, _ := strings.Cut(k.ok("get books -o wide"), "\n"); strings.Join(strings.Fields(header),
		" ") != "NAME TITLE AUTHORS AVAILABLE PAGES AGE" {
		t.Errorf("columns: %s", header)
	}
	k.says("book.library.example.com/emma", "get all -o name")
	k.says("Flunder Reference:", "describe flunder a")
	k.fails("not found", "get flunder nobody")
	k.is("", "get flunders -n nowhere -o name")
	k.says("default", "get flunders -A")
	k.says("app=a", "get flunders --show-labels")
}

func TestKubectlWrites(t *testing.T) {
	k := newKubectl(t)
	k.with(manifest("a", "x")).says("created", "create -f -")
	k.with(manifest("a", "x")).fails("already exists", "create -f -")
	k.says("labeled", "label flunder a tier=one")
	k.fails("already has a value", "label flunder a tier=two")
	k.says("labeled", "label flunder a tier=two --overwrite")
	k.says("unlabeled", "label flunder a tier-")
	k.says("annotated", "annotate flunders --all note=yes")
	k.says("patched", "patch flunder a --type=merge -p", `{"spec":{"flunderReference":"m"}}`)
	k.says("patched (no change)", "patch flunder a --type=merge -p", `{"spec":{"flunderReference":"m"}}`)
	k.says("patched", "patch flunder a --type=json -p", `[{"op":"test","path":"/spec/flunderReference","value":"m"},`+
		`{"op":"replace","path":"/spec/flunderReference","value":"j"}]`)
	k.fails("", "patch flunder a --type=json -p", `[{"op":"test","path":"/spec/flunderReference","value":"m"}]`)
	k.says("patched", "patch flunder a --type=strategic -p",
		`{"metadata":{"annotations":{"$patch":"replace","note":"yes"}}}`)
	k.fails("unknown patch type: nonsense", "patch flunder a --type=strategic -p", `{"spec":{"$patch":"nonsense"}}`)
	k.is("j yes", "get flunder a -o", "jsonpath={.spec.flunderReference} {.metadata.annotations.note}")

	k.env = append(k.env, `EDITOR=sed -i s/flunderReference:.*/flunderReference:\ edited/`)
	k.says("edited", "edit flunder a")
	k.is("edited", "get flunder a -o", "jsonpath={.spec.flunderReference}")
	k.with(k.ok("get flunder a -o yaml")).says("replaced", "replace -f -")
	uid := k.ok("get flunder a -o", "jsonpath={.metadata.uid}")
	k.with(manifest("a", "forced")).says("replaced", "replace --force -f -")
	if now := k.ok("get flunder a -o", "jsonpath={.metadata.uid}"); now == uid {
		t.Error("replace --force kept the object")
	}
	k.with(emma("Emma")).ok("create -f -")
	k.says("patched", "patch book emma --subresource=status --type=merge -p",
		`{"status":{"copies":3,"conditions":[{"type":"Available","status":"True","reason":"R","message":"",`+
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	k.says("condition met", "wait book/emma --for=jsonpath={.status.copies}=3 --timeout=30s")
	k.says("condition met", "wait book/emma --for=condition=Available --timeout=30s")
	k.fails("timed out", "wait book/emma --for=jsonpath={.status.copies}=4 --timeout=1s")
	k.fails("should be greater than or equal to 1", "patch book emma --type=merge -p", `{"spec":{"pages":-1}}`)
	k.fails("", "scale flunder a --replicas=2") // there is no such subresource
}

// kubectl applies JSON merge patches to kinds that it doesn't know.
func TestKubectlApplies(t *testing.T) {
	k := newKubectl(t)
	k.with(manifest("a", "x")).says("created", "apply -f -")
	version := k.ok("get flunder a -o", "jsonpath={.metadata.resourceVersion}")
	k.with(manifest("a", "x")).says("unchanged", "apply -f -")
	k.is(version, "get flunder a -o", "jsonpath={.metadata.resourceVersion}")
	k.with(manifest("a", "other")).fails("+  flunderReference: other", "diff -f -")
	k.with(manifest("a", "other")).says("configured (server dry run)", "apply --dry-run=server -f -")
	k.is("x", "get flunder a -o", "jsonpath={.spec.flunderReference}")
	k.with(manifest("a", "z")).says("configured", "apply -f -")
	k.is("z", "get flunder a -o", "jsonpath={.spec.flunderReference}")
	k.with(manifest("a", "z")).is("", "diff -f -")
	k.with(strings.ReplaceAll(manifest("a", "z"), "  labels: {app: a}\n", "")).says("configured", "apply -f -")
	k.is("", "get flunder a -o", "jsonpath={.metadata.labels}")
	k.with(emma("Emma")).says("created", "apply -f -")
	k.with(emma("Emma II")).says("configured", "apply -f -")
	k.with(manifest("b", "x")+emma("Emma II")).says("unchanged", "apply -f -")
	k.with(manifest("b", "x")).says("created (server dry run)", "create --dry-run=server -f -", "--namespace=other")
	k.is("", "get flunders -n other -o name")
	k.with(manifest("b", "x")).
		says("pruned", "apply --prune --all --prune-allowlist=wardle.example.com/v1beta1/Flunder -f -")
	k.is("flunder.wardle.example.com/b", "get flunders -o name")
}

func TestKubectlAppliesServerSide(t *testing.T) {
	k := newKubectl(t)
	k.with(manifest("a", "x")).says("serverside-applied", "apply --server-side -f -")
	version := k.ok("get flunder a -o", "jsonpath={.metadata.resourceVersion}")
	k.with(manifest("a", "x")).says("serverside-applied", "apply --server-side -f -")
	k.is(version, "get flunder a -o", "jsonpath={.metadata.resourceVersion}")
	k.is("kubectl Apply wardle.example.com/v1beta1", "get flunder a -o",
		"jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.apiVersion}{end}")
	k.says("f:flunderReference", "get flunder a -o yaml --show-managed-fields")

	k.with(manifest("a", "other")).fails(`conflict with "kubectl": .spec.flunderReference`,
		"apply --server-side --field-manager=rival -f -")
	k.with(manifest("a", "other")).fails("+  flunderReference: other",
		"diff --server-side --force-conflicts --field-manager=rival -f -")
	k.is("x", "get flunder a -o", "jsonpath={.spec.flunderReference}")
	k.with(manifest("a", "other")).says("serverside-applied (server dry run)",
		"apply --server-side --dry-run=server --force-conflicts --field-manager=rival -f -")
	k.is(version, "get flunder a -o", "jsonpath={.metadata.resourceVersion}")
	k.with(manifest("a", "other")).says("serverside-applied",
		"apply --server-side --force-conflicts --field-manager=rival -f -")
	k.is("other", "get flunder a -o", "jsonpath={.spec.flunderReference}")
	k.with(manifest("a", "x")).fails(`conflict with "rival": .spec.flunderReference`, "apply --server-side -f -")
	k.with(manifest("a", "other")).says("serverside-applied", "apply --server-side -f -")

	// Another version of the kind has other names for the fields, and the same owners.
	old := "apiVersion: wardle.example.com/v1alpha1\nkind: Flunder\nmetadata: {name: a}\n" +
		"spec: {reference: third, referenceType: Flunder}\n"
	k.with(old).fails("conflicts with \"rival\":\n- .spec.flunderReference",
		"apply --server-side --field-manager=old -f -")
	k.says("patched", "patch flunder a --type=merge --field-manager=patcher -p",
		`{"spec":{"flunderReference":"patched"}}`)
	k.with(manifest("a", "x")).fails(`conflict with "patcher" using wardle.example.com/v1beta1: .spec.flunderReference`,
		"apply --server-side -f -")

	// What nobody applies any more is gone.
	k.with(manifest("b", "x")).ok("apply --server-side -f -")
	k.is("b", "get flunder b -o", "jsonpath={.metadata.labels.app}")
	k.with(strings.ReplaceAll(manifest("b", "x"), "  labels: {app: b}\n", "")).says("serverside-applied",
		"apply --server-side -f -")
	k.is("", "get flunder b -o", "jsonpath={.metadata.labels}")

	// From the client's side to the server's.
	k.with(manifest("c", "x")).ok("apply -f -")
	k.with(manifest("c", "u")).says("serverside-applied", "apply --server-side -f -")
	k.is("u", "get flunder c -o", "jsonpath={.spec.flunderReference}")
	k.says(`\"flunderReference\":\"u\"`, "get flunder c -o", "jsonpath={.metadata.annotations}")
	k.with(manifest("c", "z")).says("configured", "apply -f -")

	k.with(emma("Emma")).says("serverside-applied", "apply --server-side -f -")
	status := "apiVersion: library.example.com/v1\nkind: Book\nmetadata: {name: emma}\nstatus: {copies: 3}\n"
	k.with(status).says("serverside-applied", "apply --server-side --subresource=status --field-manager=librarian -f -")
	k.is("3", "get book emma -o", "jsonpath={.status.copies}")
	k.is("librarian", "get book emma -o", `jsonpath={.metadata.managedFields[?(@.subresource=="status")].manager}`)
	k.with(emma("Emma")+"  nonsense: 1\n").fails(".spec.nonsense: field not declared in schema",
		"apply --server-side --validate=false -f -")
	k.with(strings.Replace(emma("Emma"), "name: emma", "name: emma, managedFields: [{manager: me}]", 1)).
		fails("metadata.managedFields must be nil", "apply --server-side -f -")
}

func TestKubectlValidates(t *testing.T) {
	k := newKubectl(t)
	unknown := strings.Replace(manifest("a", "x"), "spec:", "spec:\n  nonsense: 1", 1)
	k.with(unknown).fails(`unknown field "spec.nonsense"`, "create --validate=strict -f -")
	if _, stderr, err := k.with(unknown).run("create --validate=warn -f -"); err != nil ||
		!strings.Contains(stderr, `unknown field "spec.nonsense"`) {
		t.Errorf("--validate=warn: %v, %s", err, stderr)
	}
	k.ok("delete flunder a")
	if _, stderr, err := k.with(unknown).run("create --validate=ignore -f -"); err != nil ||
		strings.Contains(stderr, "nonsense") {
		t.Errorf("--validate=ignore: %v, %s", err, stderr)
	}
	k.with("apiVersion: library.example.com/v1\nkind: Book\nmetadata: {name: bad}\nspec: {title: '', genre: Poetry}\n").
		fails("spec.genre", "create -f -")
	old := "apiVersion: library.example.com/v1alpha1\nkind: Book\nmetadata: {name: old}\nspec: {title: Old}\n"
	if _, stderr, err := k.with(old).run("create -f -"); err != nil || !strings.Contains(stderr, "Book is deprecated") {
		t.Errorf("a deprecated version: %v, %s", err, stderr)
	}
}

func TestKubectlDeletes(t *testing.T) {
	k := newKubectl(t)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		k.with(manifest(name, "x")).ok("create -f -")
	}
	k.says("deleted", "delete flunder a --wait")
	k.says("deleted", "delete flunder b --cascade=foreground --timeout=30s")
	k.says("deleted", "delete flunder c --cascade=orphan --timeout=30s")
	k.says("deleted", "delete flunders -l app=d")
	k.says("(server dry run)", "delete flunder e --dry-run=server")
	k.is("flunder.wardle.example.com/e\nflunder.wardle.example.com/f", "get flunders -o name")
	k.fails("not found", "delete flunder a")
	k.ok("delete flunder a --ignore-not-found")

	k.ok("patch flunder e --type=merge -p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	k.says("deleted", "delete flunder e --wait=false")
	k.says("deletionTimestamp", "get flunder e -o yaml")
	k.fails("timed out", "wait flunder/e --for=delete --timeout=1s")
	k.ok("patch flunder e --type=merge -p", `{"metadata":{"finalizers":null}}`)
	k.ok("wait flunder/e --for=delete --timeout=30s")
	k.says("deleted", "delete flunders --all --now")
	k.is("", "get flunders -o name")
}

func TestKubectlWatches(t *testing.T) {
	k := newKubectl(t)
	k.with(manifest("a", "x")).ok("create -f -")
	ctx, stop := context.WithTimeout(t.Context(), bound)
	defer stop()
	watching := k.command(ctx,
		"get flunders -w --output-watch-events -o custom-columns=EVENT:.type,REF:.object.spec.flunderReference")
	out, err := watching.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); _ = watching.Wait() }() // it ends because it is killed
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the watch ended before %q: %v", want, lines.Err())
		}
		if got := strings.Join(strings.Fields(lines.Text()), " "); got != want {
			t.Errorf("the watch says %q, want %q", got, want)
		}
	}
	expect("EVENT REF")
	expect("ADDED x")
	k.ok("patch flunder a --type=merge -p", `{"spec":{"flunderReference":"y"}}`)
	expect("MODIFIED y")
	k.ok("delete flunder a")
	expect("DELETED y")
}

// Everything that kubectl reads from a file may be a directory or several documents.
func TestKubectlFiles(t *testing.T) {
	k := newKubectl(t)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml":    manifest("a", "x") + manifest("b", "x"),
		"book.yaml": emma("Emma"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.says("book.library.example.com/emma created", "apply -f", dir)
	k.says("flunder.wardle.example.com/b", "get -o name -f", dir)
	k.says("deleted", "delete -f", dir)
	k.is("", "get flunders,books -o name")
}
