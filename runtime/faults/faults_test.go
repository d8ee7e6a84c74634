package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

const (
	clients  = 6
	watchers = 6
	seed     = 20240229
)

// duration is how long a scenario makes trouble, at least.
func duration(t *testing.T) time.Duration {
	text := os.Getenv("APIGEN_FAULTS")
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("APIGEN_FAULTS: %v", err)
	}
	return d
}

// run is clients and watchers at work on replicas, while a scenario makes trouble.
type run struct {
	t        *testing.T
	random   *rand.Rand
	backend  storage.Backend // the test's own
	truth    *truth
	replicas []*replica
	progress *progress
	begin    time.Time
	lists    int // their share among the clients' requests, in percent; 0 is the usual one
	load     load
}

// load is how many work, and how hard.
type load struct {
	seed              uint64
	clients, watchers int
	objects           int
	pace              time.Duration // of each client
	calm              int64         // so many requests succeed between two troubles, and up to as many again
	atLeast           time.Duration // of trouble
	meter             *meter
}

// crowded is the load of short scenarios: few who work at full speed.
func crowded(t *testing.T) load {
	return load{seed: seed, clients: clients, watchers: watchers, objects: objects, calm: 200, atLeast: duration(t)}
}

// newRun starts two replicas on an etcd, which the n-th of them reaches by the n-th of wires if there are any.
func newRun(t *testing.T, config etcd.Config, wires ...*etcdtest.Proxy) *run {
	t.Helper()
	return newRunWith(t, config, nil, wires...)
}

// newRunWith is newRun with more flags for the replicas.
func newRunWith(t *testing.T, config etcd.Config, more []string, wires ...*etcdtest.Proxy) *run {
	t.Helper()
	config.DialTimeout = startTimeout
	backend, err := etcd.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	// Servers compact by themselves, but not so often that the test might miss what happened while etcd was away.
	flags := []string{"--request-timeout=1500ms", "--etcd-compaction-interval=5s"}
	if config.CAFile != "" {
		flags = append(flags, "--etcd-cafile="+config.CAFile, "--etcd-certfile="+config.CertFile,
			"--etcd-keyfile="+config.KeyFile)
	}
	flags = append(flags, more...)
	r := &run{
		t: t, load: crowded(t), random: rand.New(rand.NewPCG(seed, 0)), backend: backend, truth: observe(t, backend),
		progress: &progress{tick: make(chan struct{}, 1)}, begin: time.Now(),
	}
	for i := range 2 {
		endpoints := strings.Join(config.Endpoints, ",")
		if len(wires) > 0 {
			endpoints = "http://" + wires[i].Address()
		}
		r.replicas = append(r.replicas, launchReplica(t, append(flags, "--etcd-servers="+endpoints)...))
	}
	for _, replica := range r.replicas {
		replica.await()
	}
	return r
}

// outcome is one of the counters of progress.
type outcome func(p *progress) int64

func ended(p *progress) int64     { return p.ended.Load() }
func succeeded(p *progress) int64 { return p.succeeded.Load() }
func failed(p *progress) int64    { return p.ended.Load() - p.succeeded.Load() }

// await waits until so many more requests came to an outcome.
func (r *run) await(n int64, of outcome) {
	r.t.Helper()
	target := of(r.progress) + n
	for late := time.After(startTimeout); of(r.progress) < target; {
		select {
		case <-r.progress.tick:
		case <-late:
			r.t.Fatalf("the clients do not get on: %d of %d more requests did in %s", n-(target-of(r.progress)),
				n, startTimeout)
		}
	}
}

// trouble makes one fault and mends it.
type trouble struct {
	name string
	make func(r *run)
}

// under lets everybody work while trouble is made, then lets the watchers come to the end,
// and checks all that was seen.
func (r *run) under(troubles ...trouble) {
	stop, rest := r.work(troubles)
	stop()
	r.finish(rest.watches)
	rest.stopWatching()
	for _, replica := range r.replicas {
		if replica.ended() {
			r.t.Errorf("the server %s has ended by itself", replica.url)
		}
	}
	r.check(rest)
}

// crew is who worked, and what they were put through.
type crew struct {
	clients      []*client
	watches      []*watcher
	stopWatching func()
	made         map[string]int
}

// work lets everybody work while trouble is made. They go on until they are stopped.
func (r *run) work(troubles []trouble) (stopClients func(), c *crew) {
	c = &crew{made: map[string]int{}}
	starting := func() (context.Context, *sync.WaitGroup, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		stop := func() { cancel(); group.Wait() }
		r.t.Cleanup(stop)
		return ctx, &group, stop
	}
	working, workers, stopClients := starting()
	for i := range r.load.clients {
		one := newClient(i, r.load.seed, r.replicas, r.begin, r.progress)
		one.objects, one.pace, one.meter = r.load.objects, r.load.pace, r.load.meter
		one.share = cmp.Or(r.lists, one.share)
		c.clients = append(c.clients, one)
		workers.Go(func() { one.run(working) })
	}
	watching, followers, stopWatching := starting()
	c.stopWatching = stopWatching
	for i := range r.load.watchers {
		w := &watcher{id: i, replicas: r.replicas, random: rand.New(rand.NewPCG(r.load.seed, uint64(1000+i))),
			stream: i%3 == 2, now: c.clients[0].now}
		if i%2 == 1 {
			w.genre = "NonFiction"
		}
		c.watches = append(c.watches, w)
		followers.Go(func() { w.run(watching) })
	}
	r.await(100, succeeded)
	for i, end := 0, time.Now().Add(r.load.atLeast); i < len(troubles) || time.Now().Before(end); i++ {
		trouble := troubles[i%len(troubles)] // each in its turn, and at least once
		c.made[trouble.name]++
		trouble.make(r)
		r.await(r.load.calm+r.random.Int64N(r.load.calm), succeeded)
	}
	return stopClients, c
}

// finish waits until every watcher has come to the end.
func (r *run) finish(watches []*watcher) {
	t := r.t
	var last int64
	for late := time.Now().Add(startTimeout); last == 0; {
		_, revision, err := r.backend.Get(t.Context(), keys, storage.GetOptions{})
		if err == nil {
			last = revision
		} else if time.Now().After(late) {
			t.Fatal(err)
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(startTimeout)
	for _, w := range watches {
		for w.reached.Load() < r.latest(w.genre, last) {
			select {
			case <-tick.C:
			case <-late:
				t.Errorf("watcher %d has come to revision %d, not to %d, after %s", w.id, w.reached.Load(),
					r.latest(w.genre, last), startTimeout)
				return // the checks say more
			}
		}
	}
}

// latest is the last revision up to one that a watch of a genre tells of.
func (r *run) latest(genre string, until int64) int64 {
	changes := r.truth.until(r.t, until).changes
	for i := len(changes) - 1; i >= 0; i-- {
		if len(expected(changes[i:i+1], genre)) > 0 {
			return changes[i].revision
		}
	}
	return 0
}

// check holds everything that was seen against the log, and says how much it was.
func (r *run) check(all *crew) (summary string) {
	t := r.t
	for _, replica := range r.replicas {
		report(t, replica.crashed("\tfatal\tetcd"))
	}
	l := r.truth.until(t, revisionOf(t, r.backend))
	var operations []*operation
	var lists []*listing
	for _, c := range all.clients {
		operations, lists = append(operations, c.operations...), append(lists, c.lists...)
	}
	resumed, lost := 0, 0
	for _, w := range all.watches {
		lists = append(lists, w.lists...)
		resumed += w.resumed
		for _, s := range w.segments {
			if s == nil {
				lost++
			}
		}
		report(t, checkWatch(l, w))
	}
	applied, err := checkWrites(l, operations)
	report(t, err)
	report(t, checkLists(l, lists, operations))
	report(t, checkLinearizable(operations, applied, 5*time.Minute))
	summary = fmt.Sprintf("%d requests, %d of them answered; %d changes, %d lists; watches resumed %d times, "+
		"began anew %d times; troubles: %v",
		len(operations), answered(operations), len(l.changes), len(lists), resumed, lost, all.made)
	t.Log(summary)
	if len(l.changes) < 100 || len(lists) < 10 || resumed == 0 {
		t.Error("too little happened for a verdict")
	}
	return summary
}

func answered(operations []*operation) (n int) {
	for _, o := range operations {
		if o.code > 0 && o.code < 500 {
			n++
		}
	}
	return n
}

func report(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(tail(errors.Join(err).Error(), 6000))
	}
}

// killServers kills one server, and both.
func killServers(r *run) {
	one := r.replicas[r.random.IntN(2)]
	one.kill()
	r.await(20, ended)
	one.restart()
}

// killAllServers leaves those who come back no history: what watchers had seen last is gone from etcd, too.
func killAllServers(r *run) {
	for _, replica := range r.replicas {
		replica.kill()
	}
	r.await(20, failed)
	var revision int64
	for range 5 {
		_, now, err := r.backend.Get(r.t.Context(), "/other", storage.GetOptions{RevisionOnly: true})
		if err == nil {
			revision, err = r.backend.Put(r.t.Context(), fmt.Sprintf("/other/%d", now), nil, 0, 0)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.truth.until(r.t, revision)
	compact(r)
	for _, replica := range r.replicas {
		replica.launch()
	}
	for _, replica := range r.replicas {
		replica.await()
	}
}

func haltServer(r *run) {
	one := r.replicas[r.random.IntN(2)]
	one.stop()
	r.await(2, failed)
	one.resume()
}

// compact drops all history that the test itself has seen.
func compact(r *run) {
	err := r.backend.Compact(r.t.Context(), r.truth.seen())
	var compacted *storage.CompactedError
	if err != nil && !errors.As(err, &compacted) && !errors.Is(err, storage.ErrUnavailable) {
		r.t.Fatal(err)
	}
}

// compactedByServers waits until the servers have dropped what there is now.
func compactedByServers(r *run) {
	now := revisionOf(r.t, r.backend)
	wait(r.t, "the servers have compacted", func() bool {
		_, err := r.backend.Range(r.t.Context(), storage.RangeRequest{Prefix: keys, Limit: 1, Revision: now})
		var compacted *storage.CompactedError
		return errors.As(err, &compacted)
	})
}

// compactAndKill leaves no history to a server that begins anew.
func compactAndKill(r *run) {
	one := r.replicas[r.random.IntN(2)]
	one.kill()
	r.await(20, ended)
	compact(r)
	one.restart()
}

// killEtcd kills a process and starts it again once so many requests had an outcome.
func killEtcd(p *etcdtest.Process, n int64, of outcome) func(*run) {
	return func(r *run) {
		p.Kill()
		r.await(n, of)
		p.Restart()
	}
}

func haltEtcd(p *etcdtest.Process) func(*run) {
	return func(r *run) {
		p.Stop()
		r.await(6, failed)
		p.Continue()
	}
}

// Servers are killed, halted and started again; history is dropped under watchers, by the servers as well.
func TestServers(t *testing.T) {
	t.Parallel()
	p := etcdtest.Start(t)
	r := newRunWith(t, etcd.Config{Endpoints: []string{p.Endpoint()}}, []string{"--etcd-compaction-interval=500ms"})
	r.under(trouble{"let servers compact", compactedByServers},
		trouble{"kill a server", killServers}, trouble{"compact", compact}, trouble{"halt a server", haltServer},
		trouble{"compact and kill a server", compactAndKill}, trouble{"compact and kill all servers", killAllServers})
}

// cutOff takes etcd away from one server, and then from both; a cut is noticed, a silence is not.
func cutOff(wires []*etcdtest.Proxy, how func(*etcdtest.Proxy)) func(*run) {
	return func(r *run) {
		first := r.random.IntN(2)
		how(wires[first])
		r.await(3, failed)
		how(wires[1-first])
		r.await(6, failed)
		wires[first].Heal()
		r.await(10, succeeded)
		wires[1-first].Heal()
	}
}

// The etcd behind two servers is killed, halted and compacted, and they are cut off from it.
func TestEtcd(t *testing.T) {
	t.Parallel()
	p := etcdtest.Start(t)
	wires := []*etcdtest.Proxy{etcdtest.StartProxy(t, p.ClientPort()), etcdtest.StartProxy(t, p.ClientPort())}
	newRun(t, etcd.Config{Endpoints: []string{p.Endpoint()}}, wires...).under(
		trouble{"kill etcd", killEtcd(p, 8, failed)}, trouble{"cut servers off", cutOff(wires, (*etcdtest.Proxy).Cut)},
		trouble{"compact", compact}, trouble{"halt etcd", haltEtcd(p)},
		trouble{"lose the packets of servers", cutOff(wires, (*etcdtest.Proxy).Silence)},
		trouble{"kill a server", killServers})
}

// One server hears from etcd late what another has long answered: what it serves as consistent is no older for that.
func TestSlowWire(t *testing.T) {
	t.Parallel()
	p := etcdtest.Start(t)
	wires := []*etcdtest.Proxy{etcdtest.StartProxy(t, p.ClientPort()), etcdtest.StartProxy(t, p.ClientPort())}
	slow := func(n int) func(*run) {
		return func(r *run) {
			wires[n].Delay(15 * time.Millisecond)
			r.await(500, succeeded)
			wires[n].Heal()
		}
	}
	r := newRun(t, etcd.Config{Endpoints: []string{p.Endpoint()}}, wires...)
	r.lists = 50
	r.under(
		trouble{"a slow first wire", slow(0)}, trouble{"a slow second wire", slow(1)})
}
