package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubectlMinor is the release of kubectl that the scripts were recorded with: what others print is another matter.
const kubectlMinor = "37"

// kubectl runs commands against one server.
type kubectl struct {
	path   string
	home   string
	config clientcmdapi.Config
}

// newKubectl skips the test if there is no kubectl, or another one.
func newKubectl(t *testing.T, config clientcmdapi.Config) *kubectl {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl on this machine: ", err)
	}
	out, err := exec.CommandContext(t.Context(), path, "version", "--client", "-o", "json").Output()
	var is struct{ ClientVersion struct{ Minor string } }
	if err == nil {
		err = json.Unmarshal(out, &is)
	}
	if err != nil || strings.TrimSuffix(is.ClientVersion.Minor, "+") != kubectlMinor { // builds of vendors bear a plus
		t.Skipf("the commands were recorded with kubectl 1.%s, and this is 1.%s: %v", kubectlMinor,
			is.ClientVersion.Minor, err)
	}
	return &kubectl{path: path, home: t.TempDir(), config: config}
}

// TestKubectlScripts: each command prints what it prints of kube-apiserver, and ends as it ends there.
func TestKubectlScripts(t *testing.T) {
	t.Parallel()
	ours, kubeconfig := startOurs(t)
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	replayKubectl(t, ours, newKubectl(t, *config), "kubectl")
}

// replayKubectl runs the commands of the scripts in a folder.
func replayKubectl(t *testing.T, ours *world, k *kubectl, folder string) {
	t.Helper()
	for _, path := range scripts(t, folder) {
		s := readScript(t, path)
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			for _, scene := range s.scenes {
				t.Run(scene.name, func(t *testing.T) {
					t.Parallel()
					a := ours.enter(t, scene)
					for _, e := range scene.exchanges {
						e.check(t, k.run(a, scene.name, e.request))
					}
				})
			}
		})
		if *differ {
			s.write(t)
		}
	}
}

// run runs a command in a namespace, and returns what it printed, and how it ended. Lines that begin with @ are: @edit
// SCRIPT what the editor does to a file, by sed; @end after how long the command is ended.
func (k *kubectl) run(a *asked, namespace string, request []string) []string {
	a.Helper()
	bound, editor, stdin, arguments := time.Minute, "false", "", request[0]
	for i, line := range request[1:] {
		if script, ok := strings.CutPrefix(line, "@edit "); ok {
			editor = "sed -i " + script
		} else if after, ok := strings.CutPrefix(line, "@end "); ok {
			bound, _ = time.ParseDuration(after)
		} else if line == "" {
			stdin = a.fill(strings.Join(request[i+2:], "\n")) + "\n"
			break
		}
	}
	ctx, cancel := context.WithTimeout(a.Context(), bound)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-c", "exec "+k.path+" "+a.fill(arguments))
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig(a.T, namespace), "HOME="+k.home,
		"KUBECACHEDIR="+k.home, "KUBE_EDITOR="+editor,
		"KUBECTL_EXTERNAL_DIFF=diff -u -N")
	command.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	code := command.ProcessState.ExitCode()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		a.Fatal(err)
	}
	if ctx.Err() != nil && bound == time.Minute {
		a.Errorf("kubectl %s hangs", arguments)
	}
	return []string{fmt.Sprintf("%s%d\n", answerMark, code) + a.printed("1| ", out.String()) +
		a.printed("2| ", errs.String())}
}

// kubeconfig is a file that makes a namespace the default.
func (k *kubectl) kubeconfig(t *testing.T, namespace string) string {
	t.Helper()
	path := filepath.Join(k.home, namespace+".kubeconfig")
	config := k.config.DeepCopy()
	for _, c := range config.Contexts {
		c.Namespace = namespace
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	gapPattern     = regexp.MustCompile(` {2,}`)
	ageCellPattern = regexp.MustCompile(`(  |^)(?:\d+m)?\d+s(  |$)`)
	clockPattern   = regexp.MustCompile(`(?m)^[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ .*\n`) // what kubectl logs of itself
	filePattern    = regexp.MustCompile(`/tmp/[^\s"]+|(?m)^(---|\+\+\+|diff) .*$`)
	schemePattern  = regexp.MustCompile(`in scheme "[^"]*"`) // which kubectl names after how it was built
	kubeVersion    = regexp.MustCompile(`v1\.\d+\.\d+\S*|\(1\.\d+\)`)
	rawVersion     = regexp.MustCompile(`(resourceVersion"?: ?|Resource Version: +)"?(\d+)"?`)
)

// printed names what differs by nature in a text, and marks its lines. Columns are as wide as what stands in them.
func (a *asked) printed(mark, text string) string {
	if text == "" {
		return ""
	}
	text = rawVersion.ReplaceAllStringFunc(text, func(s string) string {
		parts := rawVersion.FindStringSubmatch(s)
		return parts[1] + a.name("version", parts[2])
	})
	text = a.text(strings.ReplaceAll(text, a.host, "<host>"))
	text = kubeVersion.ReplaceAllString(text, "<version>")
	text = schemePattern.ReplaceAllString(text, "in scheme <scheme>")
	text = clockPattern.ReplaceAllString(text, "")
	text = filePattern.ReplaceAllString(text, "<file>")
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n\t")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		line = line[:indent] + gapPattern.ReplaceAllString(line[indent:], "  ")
		b.WriteString(mark + ageCellPattern.ReplaceAllString(line, "$1<age>$2") + "\n")
	}
	return b.String()
}
