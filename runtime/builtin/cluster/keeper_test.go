package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func (k *keeper) mustSync(t *testing.T) {
	t.Helper()
	if err := k.sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// signs reports whether an authority signed the leaf of a replica.
func signs(a *authority, k *keeper) bool { return k.leaf.Load().Leaf.CheckSignatureFrom(a.cert) == nil }

// The first replica fills the empty Secret, and the others take what it has; the APIService gets the authority.
func TestFirstFill(t *testing.T) {
	h := newHost(t)
	replicas := []*keeper{h.replica(), h.replica(), h.replica()}
	var all sync.WaitGroup
	for _, k := range replicas { // at the same time
		all.Go(func() {
			if err := k.sync(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := h.written(secretPath(testSecret)); got != 1 {
		t.Errorf("the Secret was filled %d times", got)
	}
	for i, k := range replicas {
		if err := h.trusted(t, k); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
		if i > 0 && k.leaf.Load().Leaf.Equal(replicas[0].leaf.Load().Leaf) {
			t.Error("two replicas have one certificate")
		}
	}
	var s struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct{ VersionPriority int }
	}
	if h.read(t, secretPath(testSecret), &s); s.Metadata.Labels["a"] != "b" {
		t.Errorf("the Secret lost its labels: %+v", s)
	}
	if h.read(t, apiServicePath(testAPIService), &s); s.Spec.VersionPriority != 100 {
		t.Errorf("the APIService lost fields: %+v", s)
	}
	if patch := string(h.bodies[apiServicePath(testAPIService)]); strings.Contains(patch, "insecure") {
		t.Errorf("the patch is %s", patch)
	}
}

// A replica whose write meets that of another one takes the other's authority.
func TestFillConflict(t *testing.T) {
	h := newHost(t)
	first, second := h.replica(), h.replica()
	h.before["PUT "+secretPath(testSecret)] = func(*host) { second.round(t.Context()) }
	first.mustSync(t)
	signer := h.state(t).signer
	if !signs(signer, first) || !signs(signer, second) || h.written(secretPath(testSecret)) != 1 {
		t.Error("the replicas have different authorities")
	}
}

// A leaf is renewed before it ends, and nothing is written for that. A restart makes another leaf of the authority.
func TestLeafRenewal(t *testing.T) {
	h := newHost(t)
	k := h.replica()
	k.mustSync(t)
	before := k.leaf.Load()
	secrets, services := h.written(secretPath(testSecret)), h.written(apiServicePath(testAPIService))
	h.now = before.Leaf.NotAfter.Add(-renewBefore - time.Minute)
	if k.mustSync(t); k.leaf.Load() != before {
		t.Error("renewed too early")
	}
	h.now = h.now.Add(2 * time.Minute)
	if k.mustSync(t); k.leaf.Load() == before {
		t.Error("not renewed")
	}
	if err := h.trusted(t, k); err != nil {
		t.Error(err)
	}
	again := h.replica()
	if again.mustSync(t); h.trusted(t, again) != nil {
		t.Error("a restart is not trusted")
	}
	if h.written(secretPath(testSecret)) != secrets || h.written(apiServicePath(testAPIService)) != services {
		t.Error("the renewal wrote objects")
	}
}

// A replacement of the authority makes its steps in order, once each, whichever replica is first, and a client that
// believes the caBundle alone connects to each replica at each moment. One of the replicas restarts now and then, and
// one is away for days.
func TestReplacement(t *testing.T) {
	h := newHost(t)
	replicas := []*keeper{h.replica(), h.replica(), h.replica()}
	replicas[0].mustSync(t)
	old := h.state(t).signer
	h.now = old.cert.NotAfter.Add(-replaceBefore - 30*24*time.Hour)
	for _, k := range replicas {
		k.mustSync(t)
	}
	var steps []string
	began := h.now
	for round := 0; h.now.Before(began.Add(300 * 24 * time.Hour)); round++ {
		for i := range replicas {
			i = (i + round) % len(replicas)
			if i == 2 && round%10 != 0 {
				continue // away
			}
			if i == 1 && round%7 == 0 {
				replicas[i] = h.replica() // a restart
			}
			replicas[i].mustSync(t)
			for j, k := range replicas {
				if err := h.trusted(t, k); err != nil {
					t.Fatalf("replica %d in round %d after %v: %v", j, round, steps, err)
				}
			}
			if is := stepOf(h.state(t), old); len(steps) == 0 || steps[len(steps)-1] != is {
				steps = append(steps, is)
			}
		}
		h.now = h.now.Add(24 * time.Hour)
	}
	if got, want := strings.Join(steps, ", "), "old, old+next published, previous+new, new"; got != want {
		t.Errorf("the steps were %s\nwant %s", got, want)
	}
	if got := h.written(secretPath(testSecret)); got != 5 {
		t.Errorf("the Secret was written %d times", got)
	}
	now := h.state(t)
	for i, k := range replicas {
		if !signs(now.signer, k) {
			t.Errorf("replica %d has a certificate of the old authority", i)
		}
	}
	if bytes.Contains(h.bundle(t), encodeCertificate(old.cert)) || !bytes.Equal(h.bundle(t), h.data(t)[bundleKey]) {
		t.Errorf("the bundle is %s", h.bundle(t))
	}
	if _, has := h.data(t)[nextSecretKey]; has || now.signer.cert.NotAfter.Sub(h.now) < replaceBefore {
		t.Error("the replacement isn't over")
	}
}

// stepOf says how far the replacement of an authority is.
func stepOf(s *state, old *authority) string {
	is := "new"
	switch {
	case s.signer.cert.Equal(old.cert):
		is = "old"
	case s.previous != nil:
		is = "previous+new"
	}
	if s.next != nil {
		is += "+next"
	}
	if !s.times.Published.IsZero() && s.next != nil {
		is += " published"
	}
	return is
}

// replacing returns a host in which the next authority has joined the bundle, and a replica.
func replacing(t *testing.T, refused string) (*host, *keeper) {
	t.Helper()
	h := newHost(t)
	k := h.replica()
	k.mustSync(t)
	h.now = h.state(t).signer.cert.NotAfter.Add(-replaceBefore + time.Minute)
	if refused == "" {
		k.mustSync(t)
		return h, k
	}
	h.refuse(refused, http.StatusInternalServerError)
	if err := k.sync(t.Context()); err == nil {
		t.Fatal("no error")
	}
	return h, k
}

// The next authority doesn't sign before all APIServices have had it for some time.
func TestReplacementWaits(t *testing.T) {
	patch := "PATCH " + apiServicePath(testAPIService)
	h, k := replacing(t, patch)
	for range 3 {
		h.now = h.now.Add(2 * settle)
		if err := k.sync(t.Context()); err == nil {
			t.Error("no error")
		}
	}
	if is := h.state(t); is.next == nil || !is.times.Published.IsZero() || !signs(is.signer, k) {
		t.Fatalf("%+v", is)
	}
	h.refuse(patch, 0)
	k.mustSync(t)
	h.now = h.now.Add(settle - time.Second)
	k.mustSync(t)
	if is := h.state(t); is.next == nil || is.times.Published.IsZero() {
		t.Errorf("%+v", is)
	}
	h.now = h.now.Add(time.Second)
	h.refuse("GET "+apiServicePath(testAPIService), http.StatusInternalServerError)
	if err := k.sync(t.Context()); err == nil || h.state(t).next == nil {
		t.Errorf("the step was made though the APIService is away: %v", err)
	}
	h.refuse("GET "+apiServicePath(testAPIService), 0)
	k.mustSync(t)
	if is := h.state(t); is.next != nil || is.previous == nil || !signs(is.signer, k) {
		t.Errorf("%+v", is)
	}
}

// One APIService that can't be written keeps the next authority from signing, though the others have it.
func TestEveryAPIServiceCounts(t *testing.T) {
	h, k := replacing(t, "PATCH "+apiServicePath(testAPIService))
	h.put(apiServicePath("v2.shop.example.com"), leads(testService))
	k.apiServices = append(k.apiServices, "v2.shop.example.com")
	for range 2 {
		if err := k.sync(t.Context()); err == nil {
			t.Error("no error")
		}
		h.now = h.now.Add(2 * settle)
	}
	if h.written(apiServicePath("v2.shop.example.com")) != 1 || !h.state(t).times.Published.IsZero() {
		t.Errorf("%+v", h.state(t).times)
	}
}

// The previous authority stays as long as a leaf of it may be in use.
func TestPreviousStays(t *testing.T) {
	h, k := replacing(t, "")
	away := h.replica()
	away.mustSync(t) // the last to get a leaf of the old authority
	h.now = h.now.Add(settle)
	k.mustSync(t)
	ends := away.leaf.Load().Leaf.NotAfter
	for _, late := range []time.Duration{-time.Minute, time.Hour} {
		h.now = ends.Add(late)
		if k.mustSync(t); h.state(t).previous == nil {
			t.Errorf("the previous authority left the bundle at %s", late)
		}
	}
	h.now = ends.Add(2*skew + 2*settle)
	if k.mustSync(t); h.state(t).previous != nil {
		t.Error("the previous authority is in the bundle for ever")
	}
	if err := h.trusted(t, k); err != nil {
		t.Error(err)
	}
}

// Replicas that come back after the authority has ended go on with the next one, or else begin anew.
func TestEndedAuthority(t *testing.T) {
	for name, begun := range map[string]bool{"without a next one": false, "with a next one": true} {
		t.Run(name, func(t *testing.T) {
			var h *host
			var k *keeper
			if begun {
				h, k = replacing(t, "")
			} else {
				h = newHost(t)
				k = h.replica()
				k.mustSync(t)
			}
			before := h.state(t)
			h.now = before.signer.cert.NotAfter
			again := h.replica()
			for _, k := range []*keeper{k, again} {
				if k.mustSync(t); h.trusted(t, k) != nil {
					t.Error("not trusted")
				}
			}
			signer := h.state(t).signer.cert
			if signer.Equal(before.signer.cert) || begun != (before.next != nil && signer.Equal(before.next.cert)) {
				t.Error("another authority signs")
			}
		})
	}
}

// A Secret that somebody emptied is filled anew, and one that is broken stays as it is.
func TestSecretByOthers(t *testing.T) {
	h := newHost(t)
	k := h.replica()
	k.mustSync(t)
	before := h.state(t)
	h.put(secretPath(testSecret), object{"data": nil})
	if k.mustSync(t); h.state(t).signer.cert.Equal(before.signer.cert) || h.trusted(t, k) != nil {
		t.Error("the Secret was not filled")
	}
	kept := k.leaf.Load()
	for key := range map[string]bool{signerCertKey: true, timesKey: true} {
		data := h.data(t)
		data[key] = []byte("broken")
		h.put(secretPath(testSecret), object{"data": data})
		if err := k.sync(t.Context()); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
		if string(h.data(t)[key]) != "broken" || k.leaf.Load() != kept {
			t.Error("a broken Secret was used")
		}
		h.put(secretPath(testSecret), object{"data": nil})
		k.mustSync(t)
		kept = k.leaf.Load()
	}
}

// The caBundle is restored when somebody changes it, and only in APIServices that lead to the server.
func TestAPIServices(t *testing.T) {
	h := newHost(t)
	k := h.replica()
	k.apiServices = []string{testAPIService, "v1.missing", "v1.secret", "v1.local", "v1.other", "v1.insecure"}
	h.put(apiServicePath("v1.secret"), leads(testService))
	h.refuse("GET "+apiServicePath("v1.secret"), http.StatusForbidden)
	h.put(apiServicePath("v1.local"), object{"spec": object{}})
	h.put(apiServicePath("v1.other"), leads(name{"shop", "other"}))
	h.put(apiServicePath("v1.insecure"), merged(leads(testService),
		object{"spec": object{"insecureSkipTLSVerify": true}}))
	var log bytes.Buffer
	k.log = slog.New(slog.NewTextHandler(&log, nil))
	k.mustSync(t)
	h.put(apiServicePath(testAPIService), merged(leads(testService), object{"spec": object{"caBundle": "QUFB"}}))
	if k.mustSync(t); h.trusted(t, k) != nil {
		t.Error("the caBundle was not restored")
	}
	for _, name := range k.apiServices[1:] {
		if h.written(apiServicePath(name)) != 0 {
			t.Errorf("%s was written", name)
		}
		if got := strings.Count(log.String(), "apiservice="+name+" "); got != 1 {
			t.Errorf("%s was logged %d times\n%s", name, got, log.String())
		}
	}
}

// A replica starts once it can read the Secret; until then it isn't ready. It logs each reason once.
func TestStart(t *testing.T) {
	h := newHost(t)
	k := h.replica()
	var log bytes.Buffer
	k.log = slog.New(slog.NewTextHandler(&log, nil))
	get := "GET " + secretPath(testSecret)
	h.refuse(get, http.StatusForbidden)
	for range 2 {
		k.round(t.Context())
	}
	if got := strings.Count(log.String(), get+" was refused"); got != 1 || k.leaf.Load() != nil {
		t.Errorf("the refusal was logged %d times\n%s", got, log.String())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.start(ended); err == nil {
		t.Error("started without a certificate")
	}
	h.refuse(get, 0)
	if err := k.start(t.Context()); err != nil || h.trusted(t, k) != nil {
		t.Errorf("not started: %v", err)
	}
}

// What the Secret says survives encoding.
func TestState(t *testing.T) {
	h, k := replacing(t, "")
	h.now = h.now.Add(settle)
	data := map[string][]byte{"mine": []byte("mine")}
	for range 2 {
		s := h.state(t)
		if err := s.write(data); err != nil {
			t.Fatal(err)
		}
		again, err := parseState(data)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(again.times)
		want, _ := json.Marshal(s.times)
		if !bytes.Equal(again.bundle(), s.bundle()) || !bytes.Equal(got, want) || string(data["mine"]) != "mine" {
			t.Errorf("%s, want %s", got, want)
		}
		k.mustSync(t)
	}
}
