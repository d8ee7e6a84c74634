package server

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// page is a feature with a document beside the API.
type page struct{ Base }

func (page) Configure(_ context.Context, config *Config) (Contribution, error) {
	show := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "at "+config.URL()+" in "+filepath.Base(config.DataDir))
	})
	return Contribution{Paths: map[string]http.Handler{"/page": show}}, nil
}

// Who asks without credentials, or with wrong ones, gets these codes, for each of the flags' values.
func TestAnonymous(t *testing.T) {
	with := program()
	with.Features = append(with.Features, page{})
	for _, row := range []struct {
		flags                                 []string
		health, check, wrong, page, resources int
	}{
		{nil, 200, 200, 401, 401, 401},
		{[]string{"--anonymous-auth=false"}, 401, 401, 401, 401, 401},
		{[]string{"--anonymous-auth"}, 200, 200, 401, 403, 403},
		{[]string{"--anonymous-auth", "--authorization-always-allow-paths=/healthz,/pa*"}, 200, 403, 401, 200, 403},
		{[]string{"--authorization-always-allow-paths=/page"}, 403, 403, 401, 401, 401},
	} {
		t.Run(strings.Join(row.flags, " "), func(t *testing.T) {
			s := startProgram(t, with, filepath.Join(t.TempDir(), "data"), row.flags...)
			s.awaitReady(t)
			anonymous := s.anonymous(t)
			code := func(path, token string) int {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				answer, err := anonymous.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				return answer.StatusCode
			}
			for name, test := range map[string][2]int{
				"health":                     {code("/healthz", ""), row.health},
				"a check":                    {code("/readyz/ping", ""), row.check},
				"health, wrong credentials":  {code("/healthz", "nonsense"), row.wrong},
				"a document":                 {code("/page", ""), row.page},
				"a resource":                 {code("/apis/shop.example.com/v1/widgets", ""), row.resources},
				"a resource below something": {code("/api/healthz", ""), row.resources},
			} {
				if test[0] != test[1] {
					t.Errorf("%s: %d, want %d", name, test[0], test[1])
				}
			}
			if row.flags == nil {
				testPage(t, s)
			}
			s.end(t)
		})
	}
}

func testPage(t *testing.T, s *started) {
	admin := s.client(t)
	if code, body := get(t, admin, s.url+"/page"); code != 200 || body != "at "+s.url+" in data" {
		t.Errorf("the document: %d %s", code, body)
	}
	if _, body := get(t, admin, s.url+"/"); !strings.Contains(body, `"/page"`) {
		t.Errorf("the index: %s", body)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/page", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := admin.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", answer.StatusCode)
	}
}

func TestWrongPaths(t *testing.T) {
	for _, wrong := range []string{"healthz", "/a*b", "*", "/a**"} {
		err := run(t.Context(), program(), io.Discard, "--data-dir="+t.TempDir(), "--secure-port=0",
			"--authorization-always-allow-paths="+wrong)
		if err == nil || !strings.Contains(err.Error(), "--authorization-always-allow-paths") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
