package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

// thing is a kind that has nothing but metadata.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (t *thing) DeepCopyObject() runtime.Object {
	return &thing{TypeMeta: t.TypeMeta, ObjectMeta: *t.ObjectMeta.DeepCopy()}
}

// Size, Marshal and Unmarshal are those of an object that has nothing but metadata.
func (t *thing) Size() int { return t.partial().Size() }

// Marshal encodes the thing in protobuf.
func (t *thing) Marshal() ([]byte, error) { return t.partial().Marshal() }

// Unmarshal decodes the thing from protobuf.
func (t *thing) Unmarshal(data []byte) error {
	partial := t.partial()
	err := partial.Unmarshal(data)
	t.ObjectMeta = partial.ObjectMeta
	return err
}

func (t *thing) partial() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: t.ObjectMeta}
}

// resources are leafs and twigs in namespaces, and trees in none.
func resources() []registry.Resource {
	var all []registry.Resource
	for kind, scope := range map[string]api.Scope{"Leaf": api.Namespaced, "Twig": api.Namespaced, "Tree": api.Cluster} {
		newThing := func() *thing { return &thing{} }
		all = append(all, registry.New(registry.Definition[*thing]{
			Group: "wood.example.com", Names: api.Names{Kind: kind, Plural: strings.ToLower(kind) +
				"s"}, Scope: scope, New: newThing, Storage: "v1",
			Versions: []codec.Version[*thing]{codec.VersionOf(api.VersionInfo{Name: "v1"},
				codec.Conversion[*thing, *thing]{New: newThing, Proto: codec.ProtoOf[*thing]()})},
		}))
	}
	return all
}

// world is a storage with resources over it, and collectors.
type world struct {
	testing.TB
	backend    *mortal
	handles    []verb.Handle
	collectors []*Collector
	// second is the storage of another server, and remote are the resources that it serves, by their plurals.
	second storage.Backend
	remote sets.Set[string]
	away   atomic.Bool
	seen   []*elsewhere
	stop   context.CancelFunc
	ended  []chan struct{}
}

// mortal is a backend whose writes can be made to end a process.
type mortal struct {
	storage.Backend
	writes atomic.Int64
	dying  atomic.Int64 // the number of the write before which kill is called; 0 is none
	kill   func()
}

var errDead = errors.New("the process is dead")

func (m *mortal) dies() bool {
	if n := m.writes.Add(1); n != m.dying.Load() {
		return false
	}
	m.kill()
	return true
}

func (m *mortal) Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error) {
	if m.dies() || ctx.Err() != nil {
		return 0, errDead
	}
	return m.Backend.Put(ctx, key, value, expect, ttl)
}

func (m *mortal) Delete(ctx context.Context, key string, expect int64) (int64, error) {
	if m.dies() || ctx.Err() != nil {
		return 0, errDead
	}
	return m.Backend.Delete(ctx, key, expect)
}

func newWorld(t testing.TB, cached bool) *world { return newWorldIn(t, cached, verb.JSON) }

// newWorldIn is newWorld for objects that are stored in an encoding, and where another server serves some resources.
func newWorldIn(t testing.TB, cached bool, encoding verb.Encoding, elsewhere ...string) *world {
	w := &world{
		TB: t, backend: &mortal{Backend: memory.New()}, second: memory.New(), remote: sets.New(elsewhere...),
	}
	for _, resource := range resources() {
		config := registry.Config{
			Backend: w.backend, Prefix: "/registry", DisableCache: !cached, Verify: true, Encoding: encoding,
		}
		if w.remote.Has(resource.Info().Names.Plural) {
			config.Backend = w.second
		}
		h, err := resource.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		w.handles = append(w.handles, h)
	}
	t.Cleanup(func() {
		w.halt()
		for _, h := range w.handles {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
		w.backend.Backend.Close()
		w.second.Close()
	})
	return w
}

// start runs n collectors.
func (w *world) start(n int) {
	w.halt()
	var ctx context.Context
	ctx, w.stop = context.WithCancel(context.Background())
	w.backend.kill = w.stop
	for range n {
		c, ended := w.newCollector(), make(chan struct{})
		w.collectors, w.ended = append(w.collectors, c), append(w.ended, ended)
		go func() { defer close(ended); c.Run(ctx) }()
	}
}

// halt ends all collectors, and waits for them.
func (w *world) halt() {
	if w.stop != nil {
		w.stop()
	}
	for _, ended := range w.ended {
		<-ended
	}
	w.collectors, w.ended, w.seen = nil, nil, nil
}

// settle waits until all collectors know all that was written, and have nothing to do.
func (w *world) settle() {
	w.Helper()
	if !w.settleOrDie() {
		w.Fatalf("the collectors died: %s", w.list())
	}
}

// settleOrDie is settle for collectors that may die meanwhile: false.
func (w *world) settleOrDie() bool {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond / 2) // not in the way of those who have to do something
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-w.ended[0]:
			return false
		case <-tick.C:
		}
		before, _ := w.backend.Revision(ctx)
		quiet := true
		for _, c := range w.collectors {
			quiet = c.Ready() == nil && c.waitForGraph(ctx, before) == nil && w.told() && c.queue.idle() && quiet
		}
		if after, _ := w.backend.Revision(ctx); quiet && after == before && w.told() {
			return true
		}
	}
	w.Fatalf("the collectors don't come to rest: %s", w.list())
	return false
}

// idle reports whether nobody is looked at, and nothing failed.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.items {
		if it.running || it.timer == nil || it.tries > 0 {
			return false
		}
	}
	return true
}

func (w *world) handle(plural string) verb.Handle {
	w.Helper()
	for _, h := range w.handles {
		if h.Info().Names.Plural == plural {
			return h
		}
	}
	w.Fatalf("there is no resource %q", plural)
	return nil
}

var form = verb.Form{Version: "v1"}

// meta is an object's metadata; nil is none. path is resource/[namespace/]name.
func (w *world) meta(path string) *metadata {
	w.Helper()
	h, namespace, name := w.split(path)
	found, err := h.Get(w.Context(), namespace, name, "", form)
	if err != nil {
		return nil
	}
	m, err := readMetadata(found)
	if err != nil {
		w.Fatal(err)
	}
	return &m
}

func (w *world) split(path string) (h verb.Handle, namespace, name string) {
	w.Helper()
	parts := strings.Split(path, "/")
	h = w.handle(parts[0])
	if len(parts) == 3 {
		namespace = parts[1]
	}
	return h, namespace, parts[len(parts)-1]
}

// reference is JSON of one to the object at a path, or to what follows "!", which is none.
func (w *world) reference(text string) string {
	w.Helper()
	path, blocks := strings.CutSuffix(text, ":blocks")
	none, absent := strings.CutPrefix(path, "!")
	path = strings.TrimPrefix(path, "!")
	parts := strings.Split(path, "/")
	uid, kind := "gone-"+none, strings.TrimSuffix(parts[0], "s")
	if !absent {
		m := w.meta(path)
		if m == nil {
			w.Fatalf("there is no %s to refer to", path)
		}
		uid = string(m.UID)
	}
	return fmt.Sprintf(`{"apiVersion":"wood.example.com/v1","kind":%q,"name":%q,"uid":%q,"blockOwnerDeletion":%t}`,
		strings.ToUpper(kind[:1])+kind[1:], parts[len(parts)-1], uid, blocks)
}

// create makes an object with owners, which come last, and finalizers.
func (w *world) create(path string, words ...string) {
	w.Helper()
	var owners, finalizers []string
	for _, word := range words {
		if f, ok := strings.CutPrefix(word, "finalizer="); ok {
			finalizers = append(finalizers, strconv.Quote(f))
		} else {
			owners = append(owners, w.reference(word))
		}
	}
	h, namespace, name := w.split(path)
	data := fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":[%s],"ownerReferences":[%s]}}`, name,
		strings.Join(finalizers, ","), strings.Join(owners, ","))
	if _, err := h.Create(w.Context(), namespace, verb.Body{Version: "v1", Data: []byte(data)},
		verb.WriteOptions{Form: form}); err != nil {
		w.Fatalf("creating %s: %v", path, err)
	}
}

func (w *world) patch(path, format string, args ...any) {
	w.Helper()
	h, namespace, name := w.split(path)
	body := verb.Body{Version: "v1", Data: fmt.Appendf(nil, format, args...)}
	if _, err := h.Patch(w.Context(), namespace, name, "", verb.MergePatch, body,
		verb.WriteOptions{Form: form}); err != nil {
		w.Fatalf("patching %s: %v", path, err)
	}
}

func (w *world) delete(path string, policy metav1.DeletionPropagation) {
	w.Helper()
	h, namespace, name := w.split(path)
	opts := verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: form}}
	if policy != "" {
		opts.Propagation = &policy
	}
	if _, err := h.Delete(w.Context(), namespace, name, opts); err != nil {
		w.Fatalf("deleting %s: %v", path, err)
	}
}

// list shows all objects: [owners] as resource/name, * behind those that block, and what holds those that are deleted.
func (w *world) list() string {
	var lines []string
	for _, h := range w.handles {
		page, err := h.List(w.Context(), "", verb.ListOptions{}, form)
		if err != nil {
			w.Fatal(err)
		}
		for item := range page.Items {
			m, err := readMetadata(item)
			if err != nil {
				w.Fatal(err)
			}
			line := h.Info().Names.Plural + "/" + strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")
			for _, ref := range m.OwnerReferences {
				line += " " + strings.ToLower(ref.Kind) + "s/" + ref.Name
				if ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
					line += "*"
				}
			}
			if m.DeletionTimestamp != nil {
				line += " deleted"
			}
			if len(m.Finalizers) > 0 {
				line += " [" + strings.Join(m.Finalizers, " ") + "]"
			}
			lines = append(lines, line)
		}
		page.Close()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// command does one line of a script.
func (w *world) command(line string) {
	w.Helper()
	words := strings.Fields(line)
	switch args := words[1:]; words[0] {
	case "start":
		n, _ := strconv.Atoi(args[0])
		w.start(n)
	case "stop":
		w.halt()
	case "settle":
		w.settle()
	case "create":
		w.create(args[0], args[1:]...)
	case "own":
		var owners []string
		for _, owner := range args[1:] {
			owners = append(owners, w.reference(owner))
		}
		w.patch(args[0], `{"metadata":{"ownerReferences":[%s]}}`, strings.Join(owners, ","))
	case "release":
		w.patch(args[0], `{"metadata":{"finalizers":null}}`)
	case "delete":
		policy := ""
		if len(args) > 1 {
			policy = strings.ToUpper(args[1][:1]) + args[1][1:]
		}
		w.delete(args[0], metav1.DeletionPropagation(policy))
	default:
		w.Fatalf("no such command: %s", line)
	}
}

// TestScripts runs the scripts in testdata: commands, and behind ---- what there is then. Each is run with the cache
// and without, over objects that are stored in JSON and in protobuf, and where another server serves some or all kinds,
// with one collector and with three where a script says "start N".
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range strings.Split(string(text), "\n# ")[1:] {
			name, rest, _ := strings.Cut(script, "\n")
			for _, replicas := range []string{"1", "3"} {
				for kind, encoding := range map[string]verb.Encoding{
					"cache": verb.JSON, "bare": verb.JSON, "protobuf": verb.Protobuf, "trees": verb.JSON,
					"twigs": verb.JSON, "leafs trees": verb.JSON, "leafs trees twigs": verb.JSON,
				} {
					t.Run(name+"/"+kind+replicas, func(t *testing.T) {
						t.Parallel()
						script := strings.ReplaceAll(rest, "start N", "start "+replicas)
						newWorldIn(t, kind != "bare", encoding, strings.Fields(kind)...).play(script)
					})
				}
			}
		}
	}
}

func (w *world) play(script string) {
	blocks := strings.Split(script, "\n\n")
	for _, block := range blocks {
		commands, want, _ := strings.Cut(block, "----")
		for line := range strings.Lines(commands) {
			if line = strings.TrimSpace(line); line != "" {
				w.command(line)
			}
		}
		want = strings.TrimSpace(want)
		if got := w.list(); got != want {
			w.Fatalf("after\n%s\ngot\n%s\n\nwant\n%s", commands, got, want)
		}
	}
}
