package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage/etcd"
)

// elsewhere is where objects use up the space: no client and no check looks there.
const elsewhere = "/apis/library.example.com/v1/namespaces/elsewhere/books"

// useUp makes etcd raise its alarm for space, lets everybody go on without it, and lowers the alarm again.
func useUp(p *etcdtest.Process) func(*run) {
	return func(r *run) {
		server := r.replicas[r.random.IntN(2)]
		send := func(method, url, body string) int {
			r.t.Helper()
			code, answer, err := server.do(r.t.Context(), method, url, "application/json", []byte(body))
			if err != nil || code >= 500 && code != http.StatusInsufficientStorage &&
				code != http.StatusGatewayTimeout {
				r.t.Fatalf("%s %s: %d, %v: %.300s", method, url, code, err, answer)
			}
			return code
		}
		var names []string
		// A write that was on its way when the space ran out is carried out, and etcd does not say so: that is a 504.
		for code := 0; code != http.StatusInsufficientStorage; {
			if len(names) == 100 {
				r.t.Fatal("etcd takes more than its quota")
			}
			name := fmt.Sprintf("big-%d", len(names))
			code = send(http.MethodPost, elsewhere, fmt.Sprintf(
				`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":%q,"annotations":{"x":%q}},`+
					`"spec":{"title":"x"}}`,
				name, strings.Repeat("x", 200<<10)))
			names = append(names, name)
		}
		r.await(50, failed) // writes are refused
		r.await(50, succeeded)
		for _, name := range names[:len(names)-1] {
			code := http.StatusGatewayTimeout // which a busy machine makes, too
			for late := time.Now().Add(startTimeout); code == http.StatusGatewayTimeout && time.Now().Before(late); {
				code = send(http.MethodDelete, elsewhere+"/"+name, "")
			}
			if code != http.StatusOK && code != http.StatusNotFound {
				r.t.Fatalf("deleting %s without space: %d", name, code)
			}
		}
		r.truth.until(r.t, revisionOf(r.t, r.backend))
		compact(r)
		p.Reclaim()
	}
}

// The quota of the etcd behind two servers is used up while clients write, and there is space again: what was refused
// for that was not written, and what was answered before, meanwhile and after is there.
func TestSpace(t *testing.T) {
	t.Parallel()
	p := etcdtest.Start(t, "--quota-backend-bytes=8388608")
	r := newRun(t, etcd.Config{Endpoints: []string{p.Endpoint()}})
	used := useUp(p)
	r.under(trouble{"use up the space", used}, trouble{"use up the space", used})
}
