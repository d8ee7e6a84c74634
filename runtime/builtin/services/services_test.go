package services

import (
	"context"
	"strings"
	"testing"

	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// find returns how a server with arguments finds services, whose main may find some, too.
func find(t *testing.T, otherwise server.Services, arguments ...string) (server.Services, error) {
	t.Helper()
	feature, flags := &Feature{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	feature.AddFlags(flags)
	if err := flags.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return feature.Find(otherwise)
}

func TestFeature(t *testing.T) {
	main := func(context.Context, string, string, int32) (string, error) { return "main:1", nil }
	found, err := find(t, main, "--service-endpoints=db/store:443=127.0.0.1:1,db/other=127.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"store": "127.0.0.1:1", "other": "127.0.0.1:2", "third": "main:1"} {
		if got, err := found(t.Context(), "db", name, 443); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	if found, err = find(t, nil); err != nil || found != nil {
		t.Errorf("without the flag, the server has a way to find services (%v)", err)
	}
	_, err = find(t, main, "--service-endpoints=store=127.0.0.1:1")
	if want := `--service-endpoints: "store=127.0.0.1:1": `; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
