//go:build !linux

package faults

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
