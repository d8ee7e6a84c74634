package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// messages is the group shop.example.com, with a kind that has protobuf, and one that has none.
func messages() registry.Group {
	resources := []registry.Resource{registry.New(shop.InProtobuf()), registry.New(shop.Gadgets())}
	return registry.Group{Name: "shop.example.com", Versions: []string{"v1", "v1beta1"}, Resources: resources}
}

// inProtobuf counts the values of a resource, and those in protobuf.
func inProtobuf(t *testing.T, backend storage.Backend, resource string) (n, messages int) {
	t.Helper()
	result, err := backend.Range(t.Context(),
		storage.RangeRequest{Prefix: "/registry/shop.example.com/" + resource + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range result.Items {
		if bytes.HasPrefix(kv.Value, []byte(wire.Magic)) {
			messages++
		}
	}
	return len(result.Items), messages
}

// follower reads the events of a watch in JSON.
type follower struct {
	t    *testing.T
	from *bufio.Scanner
}

func follow(t *testing.T, s *started) *follower {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		s.url+"/apis/shop.example.com/v1/widgets?watch=1&resourceVersion=0&timeoutSeconds=60", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return &follower{t, bufio.NewScanner(response.Body)}
}

// next returns the next event, without managedFields, as "ADDED w0 red 7".
func (f *follower) next() string {
	f.t.Helper()
	if !f.from.Scan() {
		f.t.Fatalf("the watch ended: %v", f.from.Err())
	}
	var event struct {
		Type   string
		Object shop.WidgetV1
	}
	if err := json.Unmarshal(f.from.Bytes(), &event); err != nil {
		f.t.Fatal(err)
	}
	return fmt.Sprintf("%s %s %s %s", event.Type, event.Object.Name, event.Object.Spec.Color,
		event.Object.ResourceVersion)
}

// Two servers store the same kind in JSON and in protobuf, on one etcd, while both are watched. A migration rewrites
// all values in either direction, and clients see nothing of it but resourceVersions.
func TestStorageMediaType(t *testing.T) {
	process := etcdtest.Start(t)
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{process.Endpoint()},
		DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	servers, protobuf := "--etcd-servers="+process.Endpoint(), "--storage-media-type="+protobufType
	a := startProgram(t, serving(messages()), filepath.Join(t.TempDir(), "a"), servers)
	b := startProgram(t, serving(messages()), filepath.Join(t.TempDir(), "b"), servers, protobuf)
	watches := []*follower{follow(t, a), follow(t, b)}
	expect := func(beginning string) {
		t.Helper()
		first, second := watches[0].next(), watches[1].next()
		if first != second || !strings.HasPrefix(first, beginning) {
			t.Errorf("%q and %q, want %q", first, second, beginning)
		}
	}
	check := func(when string, n, messages int) {
		t.Helper()
		if gotN, got := inProtobuf(t, backend, "widgets"); gotN != n || got != messages {
			t.Errorf("%s: %d of %d are in protobuf, want %d of %d", when, got, gotN, messages, n)
		}
		if _, got := inProtobuf(t, backend, "gadgets"); got != 0 {
			t.Errorf("%s: %d gadgets are in protobuf, which they don't have", when, got)
		}
	}
	const n = 6
	for i := range n {
		s := []*started{a, b}[i%2]
		for path, name := range map[string]string{"namespaces/ns/widgets": "w", "gadgets": "g"} {
			if code, answer := send(t, s.client(t), "POST", s.url+"/apis/shop.example.com/v1/"+path,
				fmt.Sprintf(`{"metadata":{"name":"%s%d"},"spec":{"color":"red"}}`, name, i)); code != 201 {
				t.Fatal(code, answer)
			}
		}
		expect(fmt.Sprintf("ADDED w%d red", i))
	}
	check("written", n, n/2)
	migrate := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		err := run(t.Context(), serving(messages()), &out, append([]string{"migrate", servers}, args...)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		return out.String()
	}
	if out := migrate(protobuf, "--dry-run"); !strings.Contains(out, "6 of 6 read, 3 stale, 0 rewritten") {
		t.Error(out)
	}
	if out := migrate(protobuf); !strings.Contains(out, "6 of 6 read, 3 stale, 3 rewritten") ||
		!strings.Contains(out, "gadgets.shop.example.com: 6 of 6 read, 0 stale") {
		t.Error(out)
	}
	check("migrated", n, n)
	for i := 0; i < n; i += 2 {
		expect(fmt.Sprintf("MODIFIED w%d red", i))
	}
	item := "/apis/shop.example.com/v1/namespaces/ns/widgets/w1"
	if code, answer := send(t, a.client(t), "DELETE", a.url+item, ""); code != 200 {
		t.Fatal(code, answer)
	}
	expect("DELETED w1 red")
	b.end(t)
	a.end(t)

	b = startProgram(t, serving(messages()), filepath.Join(t.TempDir(), "back"), servers)
	if out := migrate(); !strings.Contains(out, "5 of 5 read, 5 stale, 5 rewritten, done; versions on record: v1") {
		t.Error(out)
	}
	check("migrated back", n-1, 0)
	if code, list := get(t, b.client(t), b.url+"/apis/shop.example.com/v1/namespaces/ns/widgets"); code != 200 ||
		strings.Count(list, `"color":"red"`) != n-1 {
		t.Errorf("%d %s", code, list)
	}
	b.end(t)
}

func TestUnknownStorageMediaType(t *testing.T) {
	for _, name := range []string{"application/yaml", "", "json"} {
		for _, command := range [][]string{nil, {"migrate"}} {
			err := run(t.Context(), serving(messages()), io.Discard, append(command, "--storage-media-type="+name)...)
			const want = "it must be application/json or application/vnd.kubernetes.protobuf"
			if err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), "--storage-media-type") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}
