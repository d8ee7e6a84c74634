package embedded

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

var _ storage.Maintainer = (*backend)(nil)

// Snapshot implements storage.Maintainer. The format is that of `etcdctl snapshot save`, the database and its SHA-256,
// so etcd's own tools read it, too.
func (b *backend) Snapshot(ctx context.Context, w io.Writer) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	revision := b.server.Server.KV().Rev()
	snapshot := b.server.Server.Backend().Snapshot() // it commits first
	sum := sha256.New()
	_, err := snapshot.WriteTo(io.MultiWriter(canceling{ctx, w}, sum))
	if closed := snapshot.Close(); err == nil {
		err = closed
	}
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	if err != nil {
		return 0, fmt.Errorf("taking a snapshot: %w", err)
	}
	return revision, nil
}

type canceling struct {
	ctx context.Context
	w   io.Writer
}

func (c canceling) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

func (b *backend) Defrag(ctx context.Context) error {
	if len(b.alarms(etcdserverpb.AlarmType_NOSPACE)) > 0 {
		// The history may fill the database, and without space no server can advance the compaction.
		request := &etcdserverpb.CompactionRequest{Revision: b.server.Server.KV().Rev(), Physical: true}
		if _, err := b.server.Server.Compact(ctx, request); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
			return fmt.Errorf("dropping old revisions: %w", err)
		}
	}
	if err := b.server.Server.Backend().Defrag(); err != nil {
		return fmt.Errorf("defragmenting: %w", err)
	}
	return b.disarm(ctx)
}

func (b *backend) disarm(ctx context.Context) error {
	if b.server.Server.Backend().Size() >= b.server.Server.Cfg.QuotaBackendBytes {
		return nil
	}
	for _, alarm := range b.alarms(etcdserverpb.AlarmType_NOSPACE) {
		request := &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_DEACTIVATE, MemberID: alarm.MemberID,
			Alarm: alarm.Alarm}
		if _, err := b.server.Server.Alarm(ctx, request); err != nil {
			return fmt.Errorf("clearing the alarm %s: %w", alarm.Alarm, err)
		}
	}
	return nil
}

func (b *backend) alarms(kind etcdserverpb.AlarmType) (raised []*etcdserverpb.AlarmMember) {
	for _, alarm := range b.server.Server.Alarms() {
		if alarm.Alarm == kind {
			raised = append(raised, alarm)
		}
	}
	return raised
}

func (b *backend) Space(ctx context.Context) (storage.Space, error) {
	if err := ctx.Err(); err != nil {
		return storage.Space{}, err
	}
	database := b.server.Server.Backend()
	space := storage.Space{
		Revision: b.server.Server.KV().Rev(), Size: database.Size(), InUse: database.SizeInUse(),
		Quota: b.server.Server.Cfg.QuotaBackendBytes, Version: version.Version,
	}
	for _, alarm := range b.server.Server.Alarms() {
		space.Alarms = append(space.Alarms, alarm.Alarm.String())
	}
	return space, nil
}
