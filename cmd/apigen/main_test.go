package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"apigen.dev/generator/loadtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"apigen": func() { os.Exit(run(context.Background(), os.Args[1:])) },
	})
}

// TestScripts runs the command as users do. Each script begins in a module, example.com/test, that requires what
// apigen's own module does, and apigen.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT"} {
				out, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				env.Setenv(name, strings.TrimSpace(string(out)))
			}
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOWORK", "off")
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			loadtest.WriteModule(t, env.WorkDir, loadtest.Module)
			return nil
		},
	})
}
