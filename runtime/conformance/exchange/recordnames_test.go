//go:build record

package exchange

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRecordNames asks kube-apiserver for its verdict on each name of testdata/names.txt, for every built-in kind that
// is stable and can be created, and writes the verdicts down.
func TestRecordNames(t *testing.T) {
	theirs := startTheirs(t, etcdtest.Start(t))
	table := readNames(t)
	signing["request"] = certificateRequest(t)
	sections := map[string]*nameSection{}
	for _, kind := range theirs.stableKinds(t) {
		section := table.askAll(t, theirs, kind)
		if key := section.text(table.names); sections[key] == nil {
			sections[key] = section
		} else {
			sections[key].kinds = append(sections[key].kinds, kind.String())
		}
	}
	table.sections = nil
	for _, s := range sections {
		slices.Sort(s.kinds)
		table.sections = append(table.sections, s)
	}
	slices.SortFunc(table.sections, func(a, b *nameSection) int { return strings.Compare(a.kinds[0], b.kinds[0]) })
	table.write(t)
}

// write writes the table down.
func (n *nameTable) write(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Join(n.head, "\n") + "\n\n")
	for names := range slices.Chunk(n.names, 12) {
		b.WriteString("ask: " + strings.Join(names, "  ") + "\n")
	}
	for _, s := range n.sections {
		b.WriteString("\n")
		for _, kind := range s.kinds {
			b.WriteString("kind: " + kind + "\n")
		}
		b.WriteString(s.text(n.names))
	}
	if err := os.WriteFile(namesFile, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func certificateRequest(t *testing.T) []byte {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// customGroups are those that kube-apiserver serves for the scripts.
var customGroups = []string{"shop.example.com"}

// stableKinds are the resources in a version v1, v2 and so on that have the verb create.
func (w *world) stableKinds(t *testing.T) []namedKind {
	t.Helper()
	groups := metav1.APIGroupList{}
	w.read(t, "/apis", &groups)
	roots := []string{"/api/v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if regexp.MustCompile(`^v\d+$`).MatchString(v.Version) && !slices.Contains(customGroups, g.Name) {
				roots = append(roots, "/apis/"+v.GroupVersion)
			}
		}
	}
	var out []namedKind
	for _, root := range roots {
		list := metav1.APIResourceList{}
		w.read(t, root, &list)
		for _, r := range list.APIResources {
			// The name of a Binding is that of the pod, which must exist.
			if !strings.Contains(r.Name, "/") && r.Kind != "Binding" && slices.Contains(r.Verbs, "create") {
				out = append(out, namedKind{root: root, apiVersion: list.GroupVersion, kind: r.Kind, plural: r.Name,
					namespaced: r.Namespaced})
			}
		}
	}
	return out
}

func (w *world) read(t *testing.T, path string, into any) {
	t.Helper()
	code, body := w.send(t, http.MethodGet, path, nil)
	if err := json.Unmarshal(body, into); code != http.StatusOK || err != nil {
		t.Fatal(path, code, err)
	}
}
