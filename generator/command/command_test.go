package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"apigen.dev/generator/internal/loadtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"apigen": func() { os.Exit(run(context.Background(), os.Args[1:])) },
	})
}

// TestScripts runs the command as users do.
func TestScripts(t *testing.T) { runScripts(t, "testdata") }

// TestScriptsOfManyBuilds runs the scripts that build a module again and again.
func TestScriptsOfManyBuilds(t *testing.T) { runScripts(t, "testdata/builds") }

// runScripts runs the scripts in a folder. Each begins in a module, example.com/test, that requires what apigen's own
// module does, and apigen. What that needs is in the module cache, so a script downloads nothing; one in which apigen
// resolves the dependencies of a new project (go mod tidy reads the tests of dependencies, too) sets GOPROXY to
// $MODULES first.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:         dir,
		WorkdirRoot: loadtest.StableDir(t, "scripts"),
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{
				"GOCACHE", "GOMODCACHE", "GOROOT", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOINSECURE",
				"GOFLAGS", // with other flags, the go command would compile all dependencies once more
			} {
				value, err := goEnv(name)
				if err != nil {
					return err
				}
				env.Setenv(name, value)
			}
			for _, name := range []string{"HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
				env.Setenv(name, os.Getenv(name))
			}
			modules, err := goEnv("GOPROXY")
			if err != nil {
				return err
			}
			env.Setenv("MODULES", modules)
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOWORK", "off")
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			loadtest.WriteModule(t, env.WorkDir, loadtest.Module)
			return nil
		},
	})
}

// goEnv returns what the go command takes for a variable.
func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}
