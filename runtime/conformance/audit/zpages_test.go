package audit

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/http/zpages"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/apiserver/pkg/server/statusz"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/logs"
)

type reader map[string]string

func (r reader) GetFlagz() map[string]string { return r }

type mux map[string]http.Handler

func (m mux) Handle(path string, handler http.Handler) { m[path] = handler }

// normal removes what differs by nature: the separator, which kube-apiserver draws, times, versions.
func normal(body string) string {
	for _, pattern := range [][2]string{
		{`(?m)^(a|secret|z)(: |:|=| )`, "$1<is>"},
		{`(?m)^(Started|Up|Go version|Binary version|Paths)(: |:|=| )`, "$1<is>"},
		{`(?m)(<is>) *\S.*$`, "$1"},
		{`(?m)^Emulation version.*\n`, "\n"},
	} {
		body = regexp.MustCompile(pattern[0]).ReplaceAllString(body, pattern[1])
	}
	var object map[string]any
	if json.Unmarshal([]byte(body), &object) != nil {
		return body
	}
	for _, member := range []string{"startTime", "uptimeSeconds", "goVersion", "binaryVersion"} {
		if _, ok := object[member]; ok {
			object[member] = "<" + member + ">"
		}
	}
	delete(object, "emulationVersion")
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "creationTimestamp")
	}
	tidy, _ := json.Marshal(object)
	return string(tidy)
}

// TestPages: /flagz and /statusz are answered as k8s.io/apiserver answers them, in each format that a client accepts.
func TestPages(t *testing.T) {
	theirs, flags := mux{}, map[string]string{"a": "1", "z": "[]", "secret": "CLASSIFIED"}
	paths := []string{"/apis", "/apis/a", "/livez", "/livez/ping", "/metrics", "/", "/debug/pprof", "/openapi/v3"}
	flagz.Install(theirs, "apiserver", reader(flags))
	statusz.Install(theirs, "apiserver", statusz.NewRegistry(compatibility.NewEffectiveVersionFromString("1.37", "",
		""),
		statusz.WithListedPaths(paths)))
	ours := mux{"/flagz": zpages.Flags(flags), "/statusz": zpages.Status(zpages.Process{
		Started: time.Now(), GoVersion: "go", BinaryVersion: "v", Paths: paths})}
	for path, kind := range map[string]string{"/flagz": "Flagz", "/statusz": "Statusz"} {
		for _, accept := range []string{
			"", "text/plain", "*/*", "text/*", "application/json", "application/json;as=KIND;g=config.k8s.io;v=v1beta1",
			"application/json;as=KIND;g=config.k8s.io;v=v1alpha1", "application/json;as=KIND;g=config.k8s.io;v=v1",
			"application/json;as=Other;g=config.k8s.io;v=v1beta1", "application/json;as=KIND;v=v1beta1",
			"application/vnd.kubernetes.protobuf;as=KIND;g=config.k8s.io;v=v1beta1", "image/png",
			"application/json;as=None;g=config.k8s.io;v=v1,text/plain", "text/html,*/*;q=0.8",
		} {
			accept = strings.ReplaceAll(accept, "KIND", kind)
			var answers [2]string
			for i, handler := range []http.Handler{theirs[path], ours[path]} {
				r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
				if accept != "" {
					r.Header.Set("Accept", accept)
				}
				handler.ServeHTTP(w, r)
				answers[i] = strings.Join([]string{w.Result().Status, w.Header().Get("Content-Type"),
					w.Header().Get("Warning"), normal(w.Body.String())}, "\n")
			}
			if answers[0] != answers[1] {
				t.Errorf("%s %q: %s", path, accept, cmp.Diff(answers[0], answers[1]))
			}
		}
	}
}

// TestVerbosity: /debug/flags/v is answered as k8s.io/apiserver answers it.
func TestVerbosity(t *testing.T) {
	level := new(slog.LevelVar)
	theirs, ours := routes.StringFlagPutHandler(logs.GlogSetter), zpages.Level(level)
	for _, test := range [][2]string{{"PUT", "4"}, {"PUT", "-1"}, {"PUT", "x"}, {"PUT", ""}, {"GET", ""},
		{"PUT", "0"}} {
		var answers [2]string
		for i, handler := range []http.Handler{theirs, ours} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(test[0], "/debug/flags/v", strings.NewReader(test[1])))
			answers[i] = strings.Join([]string{w.Result().Status, w.Header().Get("Content-Type"), w.Body.String()},
				"\n")
		}
		if answers[0] != answers[1] {
			t.Errorf("%v: %s", test, cmp.Diff(answers[0], answers[1]))
		}
	}
	if level.Level() != slog.LevelInfo {
		t.Errorf("level %v", level)
	}
}
