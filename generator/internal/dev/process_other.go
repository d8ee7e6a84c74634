//go:build !unix

package dev

import (
	"os"
	"os/exec"
)

func setGroup(*exec.Cmd) {}

// terminate kills: without signals, apigen can't ask a process to end. Writes that the server answered are stored all
// the same.
func terminate(p *os.Process) error { return p.Kill() }
