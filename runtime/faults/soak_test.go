package faults

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

// soak is a long run of rounds. In each, clients and churn work under random trouble, everything that they made is
// deleted, and their histories are checked; then the replicas rest, so that what they keep can be compared.
//
// The server is examples/controlplane, which has definitions, roles and bindings. The books are custom resources.
type soak struct {
	t       *testing.T
	length  time.Duration
	load    load
	faults  int           // of a round
	every   time.Duration // between two samples
	page    string        // the path of the report; "" writes none
	random  *rand.Rand
	cluster *etcdtest.Cluster
	// wires are those of each replica to the members, serving and storing the files of each replica's certificates.
	wires            [][]*etcdtest.Proxy
	serving, storing []etcdtest.Certificates
	replicas         []*replica
	backend          storage.Backend
	record           *record
}

// TestSoak runs for as long as APIGEN_SOAK says, with a seed of APIGEN_SOAK_SEED; SOAK_REPORT is the path of its page.
func TestSoak(t *testing.T) {
	s := newSoak(t)
	t.Logf("APIGEN_SOAK_SEED=%d", s.load.seed)
	s.start()
	stopSampling := s.sample()
	defer s.publish()
	defer stopSampling()
	for n, ok := 1, true; ok && (n == 1 || s.record.now() < s.length); n++ {
		var summary string
		ok = t.Run(fmt.Sprintf("round %d", n), func(t *testing.T) { summary = s.round(t, n) })
		s.record.verdict(fmt.Sprintf("round %d, histories", n), ok, summary)
		s.record.mark("", func() { s.rest(n) })
	}
}

// publish judges what was recorded, and writes the page.
func (s *soak) publish() {
	for _, v := range s.record.judge() {
		if !v.OK {
			s.t.Errorf("%s: %s", v.Subject, v.Text)
		}
	}
	s.record.summarize(s.t)
	if s.page != "" {
		if err := s.record.write(s.page); err != nil {
			s.t.Error(err)
		}
	}
}

// newSoak reads what was asked for. The short form has as many clients, who make fewer requests.
func newSoak(t *testing.T) *soak {
	s := &soak{t: t, length: 20 * time.Second, faults: 4, every: 500 * time.Millisecond,
		page: os.Getenv("SOAK_REPORT"), load: load{seed: seed, clients: 180, watchers: 20, objects: 40,
			pace: 900 * time.Millisecond, calm: 100, meter: newMeter()}}
	if text := os.Getenv("APIGEN_SOAK"); text != "" {
		var err error
		if s.length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("APIGEN_SOAK: %v", err)
		}
		s.load.pace, s.load.calm, s.load.seed = 450*time.Millisecond, 500, rand.Uint64()
		s.every = 2 * time.Second
	}
	if text := os.Getenv("APIGEN_SOAK_SEED"); text != "" {
		var err error
		if s.load.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("APIGEN_SOAK_SEED: %v", err)
		}
	}
	s.random = rand.New(rand.NewPCG(s.load.seed, 0))
	s.record = &record{seed: s.load.seed, meter: s.load.meter}
	return s
}

// start runs the cluster and the replicas, each with certificates of its own, and defines the books.
func (s *soak) start() {
	t := s.t
	s.cluster = etcdtest.StartCluster(t, 3)
	authority := s.cluster.Certificates
	var err error
	if s.backend, err = etcd.New(t.Context(), etcd.Config{Endpoints: s.cluster.Endpoints(), DialTimeout: startTimeout,
		CAFile: authority.CAFile, CertFile: authority.CertFile, KeyFile: authority.KeyFile}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.backend.Close() })
	for i := range 2 {
		serving, storing := authority.Server(t), authority.User(t, "apigen")
		s.serving, s.storing = append(s.serving, serving), append(s.storing, storing)
		s.wires = append(s.wires, nil)
		var endpoints []string
		for _, member := range s.cluster.Members {
			wire := etcdtest.StartProxy(t, member.ClientPort())
			s.wires[i], endpoints = append(s.wires[i], wire), append(endpoints, "https://"+wire.Address())
		}
		r := newReplica(t, "--request-timeout=1500ms", "--etcd-compaction-interval=30s",
			"--etcd-servers="+strings.Join(endpoints, ","), "--etcd-cafile="+storing.CAFile,
			"--etcd-certfile="+storing.CertFile, "--etcd-keyfile="+storing.KeyFile,
			"--tls-cert-file="+serving.CertFile, "--tls-private-key-file="+serving.KeyFile)
		r.binary, r.caFile = controlplane, authority.CAFile
		r.launch()
		s.replicas = append(s.replicas, r)
	}
	for _, r := range s.replicas {
		r.await()
	}
	s.insist(s.replicas[0], "", http.MethodPost, definitions, define("library.example.com", "Book", "title", "genre"),
		answers(http.StatusCreated, http.StatusConflict))
	for _, r := range s.replicas {
		s.insist(r, "", http.MethodGet, path, "", answers(http.StatusOK))
	}
	s.record.begin = time.Now()
}

// round is one run of clients and churn, of which nothing is left.
func (s *soak) round(t *testing.T, n int) (summary string) {
	r := &run{t: t, load: s.load, random: s.random, backend: s.backend, truth: observe(t, s.backend),
		replicas: s.replicas, progress: &progress{tick: make(chan struct{}, 1)}, begin: time.Now()}
	stopChurn := s.churn(n)
	t.Cleanup(stopChurn)
	stop, all := r.work(s.troubles())
	stop()
	stopChurn()
	all.clients = append(all.clients, r.sweep())
	r.finish(all.watches)
	all.stopWatching()
	return r.check(all)
}

// sweep deletes all books, as a client like any other.
func (r *run) sweep() *client {
	c := newClient(r.load.clients, r.load.seed, r.replicas, r.begin, r.progress)
	for _, one := range r.replicas {
		wait(r.t, "all books are gone", func() bool {
			list, ok := fetch(r.t.Context(), one, true, c.now)
			if !ok {
				return false
			}
			for name, v := range list.items {
				c.carryOut(one, &operation{client: c.id, kind: remove, name: name, expect: v.revision})
			}
			return len(list.items) == 0
		})
	}
	return c
}

// troubles draws those of a round. In the first half of the soak the second replica alone ends, in the second half the
// first: each lives for at least half of it.
func (s *soak) troubles() (drawn []trouble) {
	mortal := s.replicas[1]
	if s.record.now() > s.length/2 {
		mortal = s.replicas[0]
	}
	all := []trouble{
		{"kill a server", func(r *run) {
			mortal.kill()
			r.await(100, ended)
			mortal.restart()
		}},
		{"terminate a server", func(r *run) {
			mortal.terminate()
			r.await(100, ended)
			mortal.restart()
		}},
		{"halt a server", haltServer},
		{"kill a member", func(r *run) { killEtcd(s.cluster.Members[r.random.IntN(3)], 200, ended)(r) }},
		{"kill the leader", func(r *run) { killEtcd(s.cluster.Leader(), 200, ended)(r) }},
		{"halt the leader", func(r *run) { haltEtcd(s.cluster.Leader())(r) }},
		{"part the members", func(r *run) {
			s.cluster.Cut()
			r.await(50, failed)
			s.cluster.Heal()
		}},
		{"cut a server off", s.sever((*etcdtest.Proxy).Cut)},
		{"lose a server's packets", s.sever((*etcdtest.Proxy).Silence)},
		{"renew certificates", s.renew},
	}
	for _, i := range s.random.Perm(len(all))[:s.faults] {
		one := all[i]
		drawn = append(drawn, trouble{one.name, func(r *run) {
			s.record.mark(one.name, func() { one.make(r) })
		}})
	}
	return drawn
}

// sever takes all members away from one server.
func (s *soak) sever(how func(*etcdtest.Proxy)) func(*run) {
	return func(r *run) {
		wires := s.wires[r.random.IntN(2)]
		for _, wire := range wires {
			how(wire)
		}
		r.await(50, failed)
		for _, wire := range wires {
			wire.Heal()
		}
	}
}

// renew renews all certificates, waits until the servers present theirs, and ends the connections to etcd, so that
// they are made anew.
func (s *soak) renew(r *run) {
	for i, replica := range s.replicas {
		before := presented(replica)
		s.serving[i].Renew(s.t)
		s.storing[i].Renew(s.t)
		wait(r.t, "a renewed certificate is served", func() bool {
			now := presented(replica)
			return now != "" && now != before
		})
		for _, wire := range s.wires[i] {
			wire.Cut()
			wire.Heal()
		}
		replica.client.CloseIdleConnections()
	}
}

// presented is the serial number of the certificate that a server presents; "" if it can't be reached.
func presented(r *replica) string {
	config := r.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	ctx, cancel := context.WithTimeout(context.Background(), haste) // a server that was halted answers nothing
	defer cancel()
	dialer := tls.Dialer{Config: config}
	connection, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(r.url, "https://"))
	if err != nil {
		return ""
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// rest samples the replicas while they have the same to do after each round: nothing, for nobody.
func (s *soak) rest(n int) {
	for _, r := range s.replicas {
		r.await()
		r.client.CloseIdleConnections()
	}
	s.access(&s.record.rested, fmt.Sprintf("rest-%d", n))
	tick := time.NewTicker(s.every / 2)
	defer tick.Stop()
	for range 6 {
		<-tick.C
		for i, r := range s.replicas {
			s.insist(r, "", http.MethodGet, "/debug/pprof/heap?gc=1", "", answers(http.StatusOK))
			r.client.CloseIdleConnections()
			if one, ok := s.record.take(s.t.Context(), haste, i, r); ok {
				one.rest = n
				s.record.rests = append(s.record.rests, one)
			}
		}
	}
}
