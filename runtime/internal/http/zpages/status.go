package zpages

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type statusz struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	StartTime         metav1.Time `json:"startTime"`
	UptimeSeconds     int64       `json:"uptimeSeconds"`
	GoVersion         string      `json:"goVersion"`
	BinaryVersion     string      `json:"binaryVersion"`
	Paths             []string    `json:"paths"`
}

// Process is what /statusz says about a process. It is immutable.
type Process struct {
	Started                  time.Time
	GoVersion, BinaryVersion string
	// Paths are the paths that the server serves.
	Paths []string
}

// Status returns the page /statusz.
func Status(p Process) http.Handler {
	paths := folders(p.Paths)
	return page{
		kind: "Statusz",
		text: func() string {
			up := int64(time.Since(p.Started).Seconds())
			return fmt.Sprintf("\nStarted: %s\nUp: %d hr %02d min %02d sec\n"+
				"Go version: %s\nBinary version: %s\n\nPaths: %s\n",
				p.Started.Format(time.UnixDate), up/3600, up/60%60, up%60, p.GoVersion, p.BinaryVersion,
				strings.Join(paths, " "))
		},
		object: func(t metav1.TypeMeta) any {
			return statusz{
				TypeMeta: t, ObjectMeta: metav1.ObjectMeta{Name: component}, StartTime: metav1.NewTime(p.Started),
				UptimeSeconds: int64(time.Since(p.Started).Seconds()), GoVersion: p.GoVersion,
				BinaryVersion: p.BinaryVersion, Paths: paths,
			}
		},
	}
}

// documents are the folders of the API and of its documents, which nobody needs to find faults.
var documents = []string{"/apis", "/api", "/openid", "/openapi", "/.well-known"}

// folders returns the sorted first segments of paths.
func folders(paths []string) []string {
	all := []string{}
	for _, path := range paths {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if folder := "/" + first; first != "" && !slices.Contains(documents, folder) {
			all = append(all, folder)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
