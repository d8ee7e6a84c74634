//go:build linux

package deploy

import (
	"debug/elf"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"apigen.dev/generator/internal/scaffold"
)

// image is a container image as the Dockerfile of a project makes it: the files of its last stage, its user and its
// entry point.
type image struct {
	root, entry string
	user        uint32
	config      v1.Config
}

var (
	compiles = regexp.MustCompile(`(?m)^RUN (.* )-o (\S+)( .*)$`)
	copies   = regexp.MustCompile(`(?m)^COPY --from=build (\S+) (\S+)$`)
)

// buildImage builds the server of examples/quickstart by the Dockerfile that a project gets, into an OCI layout, and
// unpacks that. Its main package is that of a project for a cluster.
func buildImage(t *testing.T) *image {
	t.Helper()
	dir := quickstart(t)
	content, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	first, last, ok := strings.Cut(string(content), "\nFROM scratch\n")
	command := compiles.FindStringSubmatch(first)
	if !ok || command == nil {
		t.Fatalf("the Dockerfile is not understood:\n%s", content)
	}
	binary := filepath.Join(t.TempDir(), "binary")
	run := exec.CommandContext(t.Context(), "sh", "-c", command[1]+"-o "+binary+command[3])
	run.Dir = dir
	run.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH, "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", run, err, out)
	}
	files := map[string][]byte{}
	for _, copied := range copies.FindAllStringSubmatch(last, -1) {
		from, to := copied[1], copied[2]
		if strings.HasSuffix(to, "/") {
			to += path.Base(from)
		}
		files[to] = []byte("# " + from + " of the image that compiles\n")
		if from == command[2] {
			if files[to], err = os.ReadFile(binary); err != nil {
				t.Fatal(err)
			}
		}
	}
	return unpack(t, assemble(t, configOf(t, last), files))
}

// quickstart returns a copy of the example, with a deployment and the main package of a project for a cluster.
func quickstart(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples/quickstart"))); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		filepath.Join(dir, "go.mod"):                     filepath.Join(dir, "go.mod"),
		filepath.Join(project(t, versions...), mainFile): filepath.Join(dir, mainFile),
	} {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, to, []byte(strings.ReplaceAll(string(content), "=> ../..", "=> "+root)))
	}
	if _, err := scaffold.Deploy(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

const mainFile = "cmd/shop/main.go"

// readOnly enters the files of an image, read-only but for the volume /data, in a mount namespace of its own.
const readOnly = `mount --bind "$0" "$0" && mkdir -p "$0/data" && mount --bind "$0/data" "$0/data" &&
mount -o remount,ro,bind "$0" && user=$1 && shift && exec chroot --userspec="+$user:+$user" --groups= "$0" "$@"`

// command runs the image's entry point in the image's files, as its user, if the test may do that. It finds nothing
// else there, and can write nothing but the volume /data, whoever owns the files.
func (i *image) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can enter the files of an image")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("only those who may mount can enter the files of an image: %v %s", err, out)
	}
	for folder := i.root; folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inside := append([]string{"-m", "sh", "-c", readOnly, i.root, strconv.Itoa(int(i.user)), i.entry}, args...)
	command := exec.Command("unshare", inside...) // the context of a test ends before the server may
	command.Dir, command.Env = "/", []string{}
	return command
}

// TestImage: the binary is static, its user is not root, and it knows the flags of the pods.
func TestImage(t *testing.T) {
	i := buildImage(t)
	binary := filepath.Join(i.root, i.entry)
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 || slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_INTERP
	}) {
		t.Errorf("the binary is not static: %v, %v", libraries, err)
	}
	for _, components := range [][]string{{"self-signed"}, {"cert-manager"}, {"embedded"}} {
		template, _ := pod(t, render(t, components...))
		if got := *template.Spec.SecurityContext.RunAsUser; got != int64(i.user) || got == 0 {
			t.Errorf("the pod runs as %d, the image as %d", got, i.user)
		}
		args := append(slices.Clone(template.Spec.Containers[0].Args), "--help")
		out, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Serve the API groups of shop") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if _, ok := i.config.ExposedPorts["6443/tcp"]; !ok {
		t.Errorf("the image exposes %v", i.config.ExposedPorts)
	}
	t.Run("writes nothing", func(t *testing.T) { i.writesNothing(t) })
	for _, certificates := range []string{"cert-manager", "self-signed"} {
		t.Run("in a pod with "+certificates, func(t *testing.T) { i.serves(t, certificates) })
	}
}

// writesNothing: a server that is to write beside its volume ends with an error, even where its user owns the files.
func (i *image) writesNothing(t *testing.T) {
	if err := os.Chown(i.root, int(i.user), int(i.user)); err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	defer func() { _ = os.Chown(i.root, os.Getuid(), os.Getgid()) }()
	out, err := i.command(t, "--data-dir=/elsewhere", "--secure-port=0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "read-only file system") {
		t.Errorf("error %v\n%s", err, out)
	}
}
