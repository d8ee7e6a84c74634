package memory_test

import (
	"testing"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	"apigen.dev/runtime/storage/storagetest"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storage.Backend { return memory.New() })
}

func BenchmarkMemory(b *testing.B) {
	storagetest.Benchmark(b, func(*testing.B) storage.Backend { return memory.New() })
}
