package access

import "testing"

func startOurs(t testing.TB, name string) *world { t.Skip("not yet"); return nil }
