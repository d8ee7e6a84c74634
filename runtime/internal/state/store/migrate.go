package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	migratePage    = 500
	migrateTimeout = time.Minute
	// migrateTries bounds how often one object is tried, while others change it.
	migrateTries = 10
	// maxUnreadable bounds how many keys of unreadable objects a Migration keeps.
	maxUnreadable = 20
)

// MigrateOptions refine a Migrate.
type MigrateOptions struct {
	// DryRun counts, and writes nothing.
	DryRun bool
	// Rate bounds the writes in a second; 0 means no bound.
	Rate float64
	// Timeout bounds every question to the backend and every write; 0 is a minute. A backend that is gone for longer
	// ends the migration.
	Timeout time.Duration
	// Report, if it is set, is called after each object.
	Report func(Migration)
}

// Migration is how far a Migrate has come.
type Migration struct {
	Resource schema.GroupResource
	// Total is how many objects there are, roughly; Read how many were looked at.
	Total, Read int64
	// Stale were found to be stored otherwise than they would be today: in an older version, with older defaults or
	// with an older key of encryption. Rewritten of them were written again; the others were changed by somebody else
	// meanwhile, or it is a dry run.
	Stale, Rewritten int64
	// Unreadable could not be decoded or decrypted, or not be written as large as they have become, and were left as
	// they are; Errors tells which and why, for the first ones.
	Unreadable int64
	Errors     []error
	// Stored are the versions that are on record now, sorted; it is set at the end.
	Stored []string
}

// String tells how far it has come, on one line.
func (m Migration) String() string {
	return fmt.Sprintf("%s: %d of %d read, %d stale, %d rewritten", m.Resource, m.Read, m.Total, m.Stale, m.Rewritten)
}

// Print prints the result of a migration, which err ended.
func (m Migration) Print(out io.Writer, err error) {
	for _, left := range m.Errors {
		_, _ = fmt.Fprintf(out, "%s: left as it is: %v\n", m.Resource, left)
	}
	if more := m.Unreadable - int64(len(m.Errors)); more > 0 {
		_, _ = fmt.Fprintf(out, "%s: and %d more\n", m.Resource, more)
	}
	if err != nil {
		_, _ = fmt.Fprintf(out, "%s, not done\n", m)
		return
	}
	versions := cmp.Or(strings.Join(m.Stored, ", "), "none")
	_, _ = fmt.Fprintf(out, "%s, done; versions on record: %s\n", m, versions)
}

// ReportEvery returns a MigrateOptions.Report that prints the progress once in an interval.
func ReportEvery(out io.Writer, interval time.Duration) func(Migration) {
	last := time.Now()
	return func(m Migration) {
		if time.Since(last) >= interval {
			last = time.Now()
			_, _ = fmt.Fprintln(out, m)
		}
	}
}

// Migrate writes every object again that is not stored as it would be today, and takes the versions that are no longer
// stored off the record stored.
func (s *Store[T]) Migrate(ctx context.Context, stored *StoredVersions, opts MigrateOptions) (Migration, error) {
	if opts.Timeout <= 0 {
		opts.Timeout = migrateTimeout
	}
	run := &migration[T]{
		Migration: Migration{Resource: stored.gr}, store: s, group: stored.gr.Group, current: stored.current,
		opts: opts, found: map[string]bool{}, pace: pace{rate: opts.Rate},
	}
	err := run.run(ctx, stored)
	return run.Migration, err
}

type migration[T api.Object] struct {
	Migration
	store *Store[T]
	opts  MigrateOptions
	pace  pace
	// found are the versions of objects that stay; unknown tells that the version of one is unknown.
	group   string
	current string
	found   map[string]bool
	unknown bool
}

func (m *migration[T]) run(ctx context.Context, stored *StoredVersions) error {
	before, err := m.record(ctx, stored)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Resource, err)
	}
	if err := m.scan(ctx); err != nil {
		return fmt.Errorf("%s: %w", m.Resource, err)
	}
	if !m.opts.DryRun && !m.unknown {
		if err := m.trim(ctx, stored, before); err != nil {
			return err
		}
	}
	m.Stored, err = m.record(ctx, stored)
	return err
}

func (m *migration[T]) record(ctx context.Context, stored *StoredVersions) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	record, _, err := stored.read(ctx)
	return record.Versions, err
}

// trim takes the versions off the record that were on it before the scan, and that the scan did not find.
func (m *migration[T]) trim(ctx context.Context, stored *StoredVersions, before []string) error {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	return stored.update(ctx, func(versions []string) []string {
		versions = slices.DeleteFunc(versions, func(version string) bool {
			// What came on record since the scan began may be that of objects behind it.
			return version != m.current && !m.found[version] && slices.Contains(before, version)
		})
		return slices.AppendSeq(versions, maps.Keys(m.found))
	})
}

// scan goes through all keys, each page as it is when it is read.
func (m *migration[T]) scan(ctx context.Context) error {
	request := storage.RangeRequest{Prefix: m.store.prefix, Limit: migratePage}
	for {
		var result *storage.RangeResult
		if err := m.ask(ctx, func(ctx context.Context) (err error) {
			result, err = m.store.Backend.Range(ctx, request)
			return err
		}); err != nil {
			return err
		}
		m.Total = m.Read + int64(len(result.Items)) + result.Remaining
		for i := range result.Items {
			if err := m.object(ctx, &result.Items[i]); err != nil {
				return err
			}
			m.Read++
			if m.opts.Report != nil {
				m.opts.Report(m.Migration)
			}
		}
		if !result.More || len(result.Items) == 0 {
			return nil
		}
		request.From = result.Items[len(result.Items)-1].Key + "\x00"
	}
}

func (m *migration[T]) ask(ctx context.Context, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	return question(ctx)
}

func (m *migration[T]) object(ctx context.Context, kv *storage.KeyValue) error {
	for try := 1; kv != nil; try++ {
		version, state, err := m.look(ctx, kv)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			m.leave(err)
			return nil
		}
		if try == 1 && state.stale {
			m.Stale++
		}
		if !state.stale || m.opts.DryRun {
			m.found[version] = true
			return nil
		}
		if err := m.pace.wait(ctx); err != nil {
			return err
		}
		err = m.ask(ctx, func(ctx context.Context) error {
			_, err := m.store.put(ctx, kv.Key, state.Data, kv.Revision, storage.KeepTTL)
			return err
		})
		var conflict *storage.ConflictError
		switch {
		case err == nil:
			m.Rewritten++
			m.found[m.current] = true
			return nil
		case errors.As(err, &conflict) && try < migrateTries:
			kv = conflict.Current
		case errors.Is(err, storage.ErrUnknownOutcome) && try < migrateTries:
			// Either it is written now, or it is tried again on what is there.
			if err := m.ask(ctx, func(ctx context.Context) (err error) {
				kv, _, err = m.store.Backend.Get(ctx, kv.Key, storage.GetOptions{})
				return err
			}); err != nil {
				return err
			}
		case errors.Is(err, storage.ErrTooLarge):
			m.found[version] = true
			m.leave(fmt.Errorf("%s can't be written again: %w", kv.Key, err))
			return nil
		default:
			return fmt.Errorf("writing %s again: %w", kv.Key, err)
		}
	}
	return nil
}

// look reads a value. Where it can't be read, its version is noted as far as it tells one.
func (m *migration[T]) look(
	ctx context.Context, kv *storage.KeyValue,
) (version string, s *State[T], err error) {
	plain, _, err := m.store.config.open(kv.Key, kv.Value)
	if err != nil {
		m.unknown = true
		return "", nil, corruptError(kv.Key, err)
	}
	apiVersion := apiVersionOf(plain)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if version = gv.Version; err != nil || version == "" || gv.Group != m.group {
		version = ""
	}
	if s, err = m.store.stateOf(ctx, kv.Key, kv); err != nil {
		if m.unknown = m.unknown || version == ""; version != "" {
			m.found[version] = true
		}
	}
	return version, s, err
}

// apiVersionOf returns the apiVersion of a stored form in JSON or in protobuf, "" if it tells none.
func apiVersionOf(plain []byte) string {
	if wire.IsEnvelope(plain) {
		_, gvk, _ := wire.OpenEnvelope(plain) // an error tells none
		return gvk.GroupVersion().String()
	}
	apiVersion, _ := rendition.TypeOf(plain)
	return apiVersion
}

func (m *migration[T]) leave(why error) {
	m.Unreadable++
	if len(m.Errors) < maxUnreadable {
		m.Errors = append(m.Errors, why)
	}
}

// pace spreads writes over time. The zero value doesn't.
type pace struct {
	rate float64
	next time.Time
}

func (p *pace) wait(ctx context.Context) error {
	if p.rate <= 0 {
		return ctx.Err()
	}
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	timer := time.NewTimer(p.next.Sub(now))
	defer timer.Stop()
	p.next = p.next.Add(time.Duration(float64(time.Second) / p.rate))
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
