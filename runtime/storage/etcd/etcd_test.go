package etcd_test

import (
	"context"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"apigen.dev/runtime/storage/storagetest"
)

func open(t testing.TB, process *etcdtest.Process) storage.Backend {
	t.Helper()
	backend, err := etcd.New(context.Background(),
		etcd.Config{Endpoints: []string{process.Endpoint()}, DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	return backend
}

func TestContract(t *testing.T) {
	process := etcdtest.Start(t)
	storagetest.Run(t, func(t *testing.T) storage.Backend { return open(t, process) })
}
