//go:build linux

package deploy

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"apigen.dev/generator/scaffold"
)

// image is a container image as the Dockerfile of a project makes it: the files of its last stage, its user and its
// entry point.
type image struct {
	root, entry string
	user        uint32
}

var (
	compiles = regexp.MustCompile(`(?m)^RUN (.* )-o (\S+)( .*)$`)
	copies   = regexp.MustCompile(`(?m)^COPY --from=build (\S+) (\S+)$`)
	runsAs   = regexp.MustCompile(`(?m)^USER (\d+):\d+$`)
	enters   = regexp.MustCompile(`(?m)^ENTRYPOINT \["([^"]+)"\]$`)
)

// buildImage builds the server of examples/quickstart by the Dockerfile that a project gets. Its main package is that
// of a project for a cluster.
func buildImage(t *testing.T) *image {
	t.Helper()
	dir := quickstart(t)
	content, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	first, last, ok := strings.Cut(string(content), "\nFROM scratch\n")
	command, user, entry := compiles.FindStringSubmatch(first), runsAs.FindStringSubmatch(last),
		enters.FindStringSubmatch(last)
	if !ok || command == nil || user == nil || entry == nil {
		t.Fatalf("the Dockerfile is not understood:\n%s", content)
	}
	id, err := strconv.ParseUint(user[1], 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	i := &image{root: t.TempDir(), entry: entry[1], user: uint32(id)}
	for _, copied := range copies.FindAllStringSubmatch(last, -1) {
		if copied[1] != command[2] {
			continue // a file of the image that compiles
		}
		binary := filepath.Join(i.root, copied[2])
		run := exec.CommandContext(t.Context(), "sh", "-c", command[1]+"-o "+binary+command[3])
		run.Dir = dir
		run.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH, "GOWORK=off")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", run, err, out)
		}
	}
	return i
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

// command runs the image's entry point in the image's files, as its user, if the test may do that. It finds nothing
// else there, and can write nothing but what the user owns.
func (i *image) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can enter the files of an image")
	}
	for folder := i.root; folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(i.entry, args...) // the context of a test ends before the server may
	command.Dir, command.Env = "/", []string{}
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot: i.root, Credential: &syscall.Credential{Uid: i.user, Gid: i.user, NoSetGroups: true},
	}
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
	for _, components := range [][]string{nil, {"embedded"}} {
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
	t.Run("in a pod", func(t *testing.T) { i.serves(t) })
}
