package definitions

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	// definitionCount and objectCount are how many definitions and custom resources the test makes.
	definitionCount, objectCount = 500, 10_000
	// listCount is how often it lists the custom resources.
	listCount = 10
	// definitionsBound bounds the CPU time of all definitions. It leaves room for machines that do other work, too.
	definitionsBound = 20 * time.Second

	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// figures are what a server took. Each is CPU time unless it says something else.
type figures struct {
	start, restart time.Duration // until it is ready
	idle, resident megabytes
	live           megabytes // that definitions added to the heap
	definitions    time.Duration
	documents      time.Duration // all OpenAPI v3 documents
	change         time.Duration // of a definition, and the index of the documents
	list, zipped   time.Duration
	dearer         float64 // than a list of a generated kind, 1 for as much
	create         time.Duration
	put, patch     time.Duration
}

// TestScale proves that hundreds of definitions, and ten thousand objects of one of them, cost a server like
// examples/controlplane little. Where KUBE_APISERVER names a kube-apiserver, they must cost much less than there.
func TestScale(t *testing.T) {
	if os.Getenv("APIGEN_LONG") == "" {
		t.Skip("it downloads the definitions of a dozen projects, and runs minutes: make test-long runs it")
	}
	if runtime.GOOS != "linux" {
		t.Skip("it reads CPU time and memory in /proc, which Linux has")
	}
	dir := t.TempDir()
	all := collect(t, definitionCount)
	size := 0
	for _, crd := range all {
		size += len(encoded(t, crd))
	}
	t.Logf("the definitions are %s of JSON", megabytes(float64(size)/1e6))
	etcd := startEtcd(t, build(t, dir, "../../..", "go.etcd.io/etcd/server/v3"))
	ours := measure(newControlPlane(t, build(t, dir, "../../../examples/controlplane", "."), etcd), all,
		(*instance).compareLists)
	binary := os.Getenv(binaryVariable)
	if binary == "" {
		t.Logf("set %s to a kube-apiserver to compare\n%s", binaryVariable, table(ours, nil))
	} else {
		theirs := measure(newKubeAPIServer(t, binary, etcd), all, nil)
		t.Logf("\n%s", table(ours, theirs))
		compare(t, ours, theirs)
	}
	if ours.definitions >= definitionsBound {
		t.Errorf("%d definitions took %s", len(all), ours.definitions)
	}
	if ours.live > 100 {
		t.Errorf("%d definitions added %s to the live heap", len(all), ours.live)
	}
	if ours.dearer > dearerBound {
		t.Errorf("a list of custom resources took %.3f times what one of a generated kind takes", ours.dearer)
	}
	if ours.change > ours.documents/10 {
		t.Errorf("the change of a definition took %s, all documents %s", ours.change, ours.documents)
	}
}

// compare wants a list to cost a tenth of kube-apiserver's, and definitions and writes at most half.
func compare(t *testing.T, ours, theirs *figures) {
	t.Helper()
	if ours.list > theirs.list/10 {
		t.Errorf("a list took %s, in kube-apiserver %s", ours.list, theirs.list)
	}
	for verb, took := range map[string][2]time.Duration{
		"definition": {ours.definitions / definitionCount, theirs.definitions / definitionCount},
		"create":     {ours.create, theirs.create},
		"put":        {ours.put, theirs.put},
		"patch":      {ours.patch, theirs.patch},
	} {
		if took[0] > took[1]/2 {
			t.Errorf("a %s took %s, in kube-apiserver %s", verb, took[0], took[1])
		}
	}
}

// measure starts a server, gives it definitions and objects, and stops it. compareLists may be nil.
func measure(i *instance, all []*definition, compareLists func(*instance) float64) *figures {
	i.t.Helper()
	f := &figures{start: i.start()}
	i.rest()
	f.idle = i.resident()
	before := i.heap()
	f.definitions = i.cost(func() { i.define(all) })
	f.resident, f.live = i.resident(), i.heap()-before
	i.areEstablished(all)
	f.documents, f.change = i.changeOne(all)
	i.writeObjects(f)
	f.list, f.zipped = i.list("identity"), i.list("gzip")
	if compareLists != nil {
		f.dearer = compareLists(i)
	}
	i.stop(syscall.SIGTERM)
	f.restart = i.start()
	i.stop(os.Kill)
	return f
}

// define creates definitions, and waits until the last version of each is served.
func (i *instance) define(all []*definition) {
	i.t.Helper()
	for _, crd := range all {
		i.must(http.MethodPost, definitionsPath, "application/json", encoded(i.t, crd))
	}
	for _, crd := range all {
		path := fmt.Sprintf("/apis/%s/%s", crd.Spec.Group, servedVersion(crd))
		name := fmt.Sprintf(`"name":%q`, crd.Spec.Names.Plural)
		i.until(100*time.Millisecond, path+" has "+name, func() bool {
			got, err := i.send(http.MethodGet, path, "", nil)
			return err == nil && strings.Contains(string(got.body), name)
		})
	}
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func servedVersion(crd *definition) string {
	for n := range crd.Spec.Versions {
		if crd.Spec.Versions[n].Served {
			return crd.Spec.Versions[n].Name
		}
	}
	return ""
}

// areEstablished fails the test where a definition isn't.
func (i *instance) areEstablished(all []*definition) {
	i.t.Helper()
	for _, crd := range all {
		var got definition
		if err := json.Unmarshal(i.get(definitionsPath+"/"+crd.Name), &got); err != nil {
			i.t.Fatal(err)
		}
		established := false
		for _, c := range got.Status.Conditions {
			if c.Status == apiextensionsv1.ConditionTrue && c.Type == apiextensionsv1.Established {
				established = true
			}
		}
		if !established {
			i.t.Errorf("%s: %+v", crd.Name, got.Status.Conditions)
		}
	}
}

// changeOne reads all OpenAPI v3 documents, changes a definition, and reads the index again. The documents of other
// groups must be the same as before. It returns what both took.
func (i *instance) changeOne(all []*definition) (documents, change time.Duration) {
	i.t.Helper()
	var before map[string]string
	documents = i.cost(func() {
		before = i.index()
		for _, url := range before {
			i.get(url)
		}
	})
	crd := all[len(all)/2]
	own := fmt.Sprintf("apis/%s/%s", crd.Spec.Group, crd.Spec.Versions[0].Name)
	after := before
	change = i.cost(func() {
		i.must(http.MethodPatch, definitionsPath+"/"+crd.Name, "application/json-patch+json", []byte(`[{"op":"add",`+
			`"path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"It was changed."}]`))
		i.until(100*time.Millisecond, own+" changes", func() bool {
			after = i.index()
			return after[own] != before[own]
		})
	})
	for path, url := range before {
		if after[path] != url && !strings.HasPrefix(path, "apis/"+crd.Spec.Group+"/") {
			i.t.Errorf("after a change in %s, %s became %s", own, url, after[path])
		}
	}
	for path, url := range after { // a URL has the ETag of its document
		etag := i.must(http.MethodGet, url, "", nil).header.Get("ETag")
		if !strings.Contains(url, strings.Trim(etag, `"`)) || etag == "" {
			i.t.Errorf("%s: the index has %s, its ETag is %s", path, url, etag)
		}
	}
	return documents, change
}

// index returns the URLs of the OpenAPI v3 documents.
func (i *instance) index() map[string]string {
	i.t.Helper()
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(i.get("/openapi/v3"), &index); err != nil {
		i.t.Fatal(err)
	}
	urls := map[string]string{}
	for path, at := range index.Paths {
		urls[path] = at.ServerRelativeURL
	}
	return urls
}

const certificates = "/apis/cert-manager.io/v1/namespaces/default/certificates"

// certificate is the nth object.
func certificate(n int) map[string]any {
	name := fmt.Sprintf("site-%05d", n)
	return map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
		"metadata": map[string]any{"name": name, "namespace": "default", "labels": map[string]any{"app": name}},
		"spec": map[string]any{
			"secretName": name + "-tls", "duration": "2160h", "renewBefore": "360h",
			"dnsNames":  []any{name + ".example.com", "www." + name + ".example.com"},
			"usages":    []any{"digital signature", "key encipherment", "server auth"},
			"issuerRef": map[string]any{"name": "letsencrypt", "kind": "ClusterIssuer", "group": "cert-manager.io"},
			"privateKey": map[string]any{
				"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always", "encoding": "PKCS8",
			},
		},
	}
}

// writeObjects creates, replaces and patches all objects.
func (i *instance) writeObjects(f *figures) {
	i.t.Helper()
	created := make([][]byte, objectCount)
	f.create = i.each(func(n int) (*answer, error) {
		got, err := i.send(http.MethodPost, certificates, "application/json", encoded(i.t, certificate(n)))
		if err == nil {
			created[n] = got.body
		}
		return got, err
	})
	f.put = i.each(func(n int) (*answer, error) {
		changed := strings.Replace(string(created[n]), `"2160h"`, `"1440h"`, 1)
		return i.send(http.MethodPut, fmt.Sprintf("%s/site-%05d", certificates, n), "application/json",
			[]byte(changed))
	})
	f.patch = i.each(func(n int) (*answer, error) {
		return i.send(http.MethodPatch, fmt.Sprintf("%s/site-%05d", certificates, n), "application/merge-patch+json",
			[]byte(`{"spec":{"renewBefore":"240h"}}`))
	})
}

// each runs a step for all objects, four at a time, and returns what one took.
func (i *instance) each(step func(n int) (*answer, error)) time.Duration {
	i.t.Helper()
	var next, failed atomic.Int64
	var workers sync.WaitGroup
	took := i.cost(func() {
		for range 4 {
			workers.Go(func() {
				for n := int(next.Add(1)) - 1; n < objectCount && failed.Load() == 0; n = int(next.Add(1)) - 1 {
					if got, err := step(n); err != nil || got.status >= http.StatusBadRequest {
						i.t.Errorf("object %d: %v, %+v", n, err, got)
						failed.Store(1)
					}
				}
			})
		}
		workers.Wait()
	})
	if failed.Load() > 0 {
		i.t.FailNow()
	}
	return took / objectCount
}

// list returns what a list of all objects took.
func (i *instance) list(encoding string) time.Duration {
	i.t.Helper()
	return i.cost(func() {
		for range listCount {
			got := i.must(http.MethodGet, certificates, "", nil, "Accept", "application/json",
				"Accept-Encoding", encoding)
			if is := got.header.Get("Content-Encoding"); is != encoding && encoding == "gzip" || is == "gzip" &&
				encoding != "gzip" {
				i.t.Fatalf("asked for %s, the answer is %q", encoding, is)
			}
			if encoding != "gzip" && strings.Count(string(got.body), `"secretName"`) != objectCount {
				i.t.Fatalf("a list of %d bytes doesn't have %d objects: %.300s", len(got.body), objectCount, got.body)
			}
		}
	}) / listCount
}

// inDigits prints a number with two digits at least.
func inDigits(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.2g", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// table prints figures in Markdown. Theirs may be nil.
func table(ours, theirs *figures) string {
	var out strings.Builder
	row := func(name string, cell func(*figures) string) {
		fmt.Fprintf(&out, "| %s | %s |", name, cell(ours))
		if theirs != nil {
			fmt.Fprintf(&out, " %s |", cell(theirs))
		}
		out.WriteString("\n")
	}
	in := func(unit string, per time.Duration, of func(*figures) time.Duration) func(*figures) string {
		return func(f *figures) string { return inDigits(float64(of(f))/float64(per)) + " " + unit }
	}
	row("", func(f *figures) string {
		if f == ours {
			return "this server"
		}
		return filepath.Base(os.Getenv(binaryVariable))
	})
	row("---", func(*figures) string { return "---:" })
	row("start, until /readyz", in("s", time.Second, func(f *figures) time.Duration { return f.start }))
	row("start with 500 definitions, 10,000 objects", in("s", time.Second,
		func(f *figures) time.Duration { return f.restart }))
	row("resident memory, idle", func(f *figures) string { return f.idle.String() })
	row("resident memory, 500 definitions", func(f *figures) string { return f.resident.String() })
	row("live heap that 500 definitions add", func(f *figures) string { return f.live.String() })
	row("CPU to establish 500 definitions", in("s", time.Second,
		func(f *figures) time.Duration { return f.definitions }))
	row("CPU of all their OpenAPI v3 documents", in("s", time.Second,
		func(f *figures) time.Duration { return f.documents }))
	row("CPU to change one of them", in("ms", time.Millisecond, func(f *figures) time.Duration { return f.change }))
	row("CPU of a list of 10,000 objects in JSON", in("ms", time.Millisecond,
		func(f *figures) time.Duration { return f.list }))
	row("CPU of that list with gzip", in("ms", time.Millisecond, func(f *figures) time.Duration { return f.zipped }))
	if ours.dearer > 0 {
		row("a list in JSON, to one of a generated kind", func(f *figures) string {
			if f.dearer == 0 {
				return "not measured"
			}
			return fmt.Sprintf("%.2f", f.dearer)
		})
	}
	row("CPU of a create", in("µs", time.Microsecond, func(f *figures) time.Duration { return f.create }))
	row("CPU of a put", in("µs", time.Microsecond, func(f *figures) time.Duration { return f.put }))
	row("CPU of a patch", in("µs", time.Microsecond, func(f *figures) time.Duration { return f.patch }))
	return out.String()
}
