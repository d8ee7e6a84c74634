package registry_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

type (
	ctxT      = context.Context
	durationT = time.Duration
)

func openBackend(t testing.TB) storage.Backend {
	b := memory.New()
	t.Cleanup(func() { b.Close() })
	return b
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func mustInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
