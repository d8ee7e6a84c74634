//go:build record

package matrix

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// binaryVariable names a kube-apiserver to record: `make record` builds one.
const binaryVariable = "KUBE_APISERVER"

// TestRecord asks kube-apiserver all that the tables hold, and writes its answers and audit records into them.
func TestRecord(t *testing.T) {
	store := etcdtest.Start(t)
	for name, flags := range worlds {
		t.Run(name, func(t *testing.T) {
			theirs := startTheirs(t, name, append(flags, "--etcd-servers="+store.Endpoint(), "--etcd-prefix=/"+name))
			for _, table := range tables(t, name) {
				theirs.record(t, table)
				table.write(t)
			}
		})
	}
}

// record asks all of a table. Records of audit are written after the answer, so that they are read in the end.
func (w *world) record(t *testing.T, f *table) {
	t.Helper()
	ids := map[*row]string{}
	for _, q := range f.questions {
		for _, r := range q.rows {
			ids[r], r.theirs = w.recordRow(t, f, q, r)
		}
	}
	records := w.settled(t)
	for _, q := range f.questions {
		for _, r := range q.rows {
			r.theirs = append(r.theirs, auditLines(records[ids[r]], q, w.words, r.theirs)...)
		}
	}
}

// recordRow asks until kube-apiserver's caches know what was written before: until the answer has the code that the
// question names.
func (w *world) recordRow(t *testing.T, f *table, q *question, r *row) (id string, lines []string) {
	t.Helper()
	m, err := newMessage(q, r.who, w.words)
	if err != nil {
		t.Fatalf("%s:%d: %v", f.path, q.line, err)
	}
	for end := time.Now().Add(10 * time.Second); ; <-time.After(20 * time.Millisecond) {
		began := time.Now()
		id, lines, err = w.ask(t, q, r)
		if d := time.Since(began); d > time.Second {
			t.Logf("%s:%d: %s took %s", f.path, q.line, r.label(), d)
		}
		if err != nil {
			t.Fatalf("%s:%d: %s: %v", f.path, q.line, r.label(), err)
		}
		if m.until == 0 || strings.HasPrefix(lines[0], fmt.Sprint(m.until)) {
			return id, lines
		}
		if time.Now().After(end) {
			t.Fatalf("%s:%d: %s: %s, never %d", f.path, q.line, r.label(), lines[0], m.until)
		}
	}
}

// startTheirs runs kube-apiserver.
func startTheirs(t *testing.T, name string, flags []string) *world {
	t.Helper()
	binary := os.Getenv(binaryVariable)
	if binary == "" {
		t.Fatal("set " + binaryVariable + " to a kube-apiserver")
	}
	dir, port := t.TempDir(), etcdtest.FreePort(t)
	w := newWorld(name)
	w.host = fmt.Sprintf("127.0.0.1:%d", port)
	flags = append(flags, w.credentials(t, dir)...)
	flags = append(flags, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+dir, "--service-cluster-ip-range=10.0.0.0/24",
		"--enable-priority-and-fairness=false", withoutAdmission)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, flags...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the end of kube-apiserver's log:\n%s", text[max(0, len(text)-4000):])
		}
	})
	w.until(t, http.MethodGet, "/readyz", nil)
	w.populate(t)
	w.aggregate(t)
	w.awaitAuthorizer(t)
	return w
}

// aggregate does what kube-controller-manager does for kube-apiserver: it joins the rules of roles by their labels. The
// rules of a role that aggregates one that aggregates are there in the second round.
func (w *world) aggregate(t *testing.T) {
	t.Helper()
	const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	for range 3 {
		var roles rbacv1.ClusterRoleList
		if err := json.Unmarshal(w.until(t, http.MethodGet, path, nil), &roles); err != nil {
			t.Fatal(err)
		}
		for _, role := range roles.Items {
			if role.AggregationRule == nil {
				continue
			}
			role.APIVersion, role.Kind, role.Rules = "rbac.authorization.k8s.io/v1", "ClusterRole", nil
			for _, part := range roles.Items {
				if part.Name != role.Name && aggregates(role.AggregationRule, part.Labels) {
					role.Rules = append(role.Rules, part.Rules...)
				}
			}
			text, err := json.Marshal(role)
			if err != nil {
				t.Fatal(err)
			}
			w.until(t, http.MethodPut, path+"/"+role.Name, text)
		}
	}
}

func aggregates(rule *rbacv1.AggregationRule, of labels.Set) bool {
	return slices.ContainsFunc(rule.ClusterRoleSelectors, func(selector metav1.LabelSelector) bool {
		wanted, err := metav1.LabelSelectorAsSelector(&selector)
		return err == nil && wanted.Matches(of)
	})
}

// awaitAuthorizer waits until kube-apiserver's authorizer knows the last objects of each kind.
func (w *world) awaitAuthorizer(t *testing.T) {
	t.Helper()
	for user, namespace := range map[string]string{"last": "blue", "last-in-red": "red"} {
		q := &question{request: []string{"GET /api/v1/namespaces/" + namespace + "/configmaps/open"}}
		for end := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
			_, lines, err := w.ask(t, q, &row{who: user, how: firstProtocol})
			if err == nil && strings.HasPrefix(lines[0], "200") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the authorizer never knows the last binding: %v %v", lines, err)
			}
		}
	}
}
