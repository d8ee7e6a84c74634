package generator

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAnotherProgramIsSeen: a program that was built anew is another one, its size and its time aside.
func TestAnotherProgramIsSeen(t *testing.T) {
	dir := t.TempDir()
	at := time.Now().Add(-time.Hour)
	compile := func(text string) string {
		t.Helper()
		source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
		if err := os.WriteFile(
			source, []byte("package main\n\nfunc main() { println(\""+text+"\") }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-o", program, source)
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
		if err := os.Chtimes(program, at, at); err != nil {
			t.Fatal(err)
		}
		if _, err := buildinfo.ReadFile(program); err != nil {
			t.Fatal(err)
		}
		id, err := identity(program)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	one, two, again := compile("one"), compile("two"), compile("one")
	if one == two {
		t.Error("two programs of one size and time are the same")
	}
	if one != again {
		t.Error("one program is two")
	}
}
