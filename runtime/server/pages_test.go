package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// secretive is a feature with a flag whose value nobody may see. It keeps the configuration of the server.
type secretive struct {
	mode
	config *Config
}

func (s *secretive) AddFlags(set *pflag.FlagSet) {
	set.String("password", "", "")
	_ = set.SetAnnotation("password", classified, []string{"true"})
}

func (s *secretive) Configure(_ context.Context, config *Config) (Contribution, error) {
	s.config = config
	return Contribution{}, nil
}

// TestAdministratorsPages: the pages have the flags, the process and the level of the log, for those whom the
// authorizer allows.
func TestAdministratorsPages(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("bobs,bob,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	feature, p := &secretive{}, program()
	p.Features = []Feature{feature}
	s := startProgram(t, p, filepath.Join(t.TempDir(), "data"), "--password=hunter2", "--token-auth-file="+tokens)
	defer s.end(t)
	client := s.client(t)
	if code, flags := get(t, client, s.url+"/flagz"); code != 200 || strings.Contains(flags, "hunter2") ||
		!strings.Contains(flags, "password=CLASSIFIED\n") || !strings.Contains(flags, "bind-address=127.0.0.1\n") {
		t.Errorf("%d: %s", code, flags)
	}
	if code, status := get(t, client, s.url+"/statusz"); code != 200 ||
		!strings.Contains(status, "Paths: /debug /flagz /healthz /livez /metrics /readyz /statusz /version\n") {
		t.Errorf("%d: %s", code, status)
	}
	for _, test := range []struct {
		client *http.Client
		token  string
		body   string
		code   int
		level  slog.Level
	}{
		{client, "", "4", 200, slog.LevelDebug}, {client, "", "x", 400, slog.LevelDebug},
		{s.anonymous(t), "bobs", "0", 403, slog.LevelDebug},
		{client, "", "0", 200, slog.LevelInfo},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+"/debug/flags/v",
			strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		if test.token != "" {
			request.Header.Set("Authorization", "Bearer "+test.token)
		}
		response, err := test.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if level := feature.config.LogLevel.Level(); response.StatusCode != test.code || level != test.level {
			t.Errorf("%s: %s, level %v: %s", test.body, response.Status, level, text)
		}
	}
	if code, _ := get(t, client, s.url+"/debug/flags/v"); code != http.StatusNotAcceptable {
		t.Error(fmt.Sprint("GET of the level: ", code))
	}
}
