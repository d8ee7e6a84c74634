//go:build !unix

package dev

import (
	"os"
	"os/exec"
)

func setGroup(*exec.Cmd) {}

// terminate kills: where there are no signals a process can't be asked. What it answered is stored all the same.
func terminate(p *os.Process) error { return p.Kill() }
