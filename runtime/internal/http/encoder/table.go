package encoder

import (
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultColumns are the columns of a version that declares none.
var defaultColumns = []api.Column{
	{Name: "Name", Type: "string", Format: "name", Description: "Name must be unique within a namespace."},
	{Name: "Age", Type: "date", Description: "The time since the object was created."},
}

func tableColumns(columns []api.Column) []metav1.TableColumnDefinition {
	if len(columns) == 0 {
		columns = defaultColumns
	}
	definitions := make([]metav1.TableColumnDefinition, len(columns))
	for i, c := range columns {
		definitions[i] = metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
		}
	}
	return definitions
}

func isRow(s api.Shape) bool {
	s = s.Plain()
	return s == api.Row || s == api.RowWithMetadata || s == api.RowWithObject
}

func (f *Frame) table(shape api.Shape, row *api.Rendition, columns string, now time.Time) {
	f.text(headsOf(shape).jsonTable)
	if row.VersionLen > 0 {
		f.text(`"resourceVersion":"`)
		f.bytes(row.Payload[row.VersionAt : row.VersionAt+row.VersionLen])
		f.text(`"`)
	}
	f.text(`},"columnDefinitions":`)
	f.text(columns)
	f.text(`,"rows":[`)
	f.rendition(row, true, now)
	f.text(`]}`)
}

// maxAge is more than the length of any age.
const maxAge = 32

// appendAge appends the time from since until now, as kubectl shows ages.
func appendAge(b []byte, since, now time.Time) []byte {
	if since.IsZero() {
		return append(b, "<unknown>"...)
	}
	return appendDuration(b, now.Sub(since))
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// appendDuration appends a duration as duration.HumanDuration of apimachinery formats it, without allocating.
func appendDuration(b []byte, d time.Duration) []byte {
	seconds := int(d / time.Second)
	minutes, hours, days := int(d/time.Minute), int(d/time.Hour), int(d/day)
	switch {
	case seconds < -1:
		return append(b, "<invalid>"...)
	case seconds < 0:
		return append(b, "0s"...)
	case seconds < 60*2:
		return appendUnit(b, seconds, 's')
	case minutes < 10:
		return appendUnits(b, minutes, 'm', seconds%60, 's')
	case minutes < 60*3:
		return appendUnit(b, minutes, 'm')
	case hours < 8:
		return appendUnits(b, hours, 'h', minutes%60, 'm')
	case hours < 48:
		return appendUnit(b, hours, 'h')
	case hours < 24*8:
		return appendUnits(b, days, 'd', hours%24, 'h')
	case hours < 24*365*2:
		return appendUnit(b, days, 'd')
	case hours < 24*365*8:
		return appendUnits(b, int(d/year), 'y', days%365, 'd')
	}
	return appendUnit(b, int(d/year), 'y')
}

func appendUnit(b []byte, n int, unit byte) []byte {
	return append(strconv.AppendInt(b, int64(n), 10), unit)
}

func appendUnits(b []byte, n int, unit byte, rest int, small byte) []byte {
	b = appendUnit(b, n, unit)
	if rest == 0 {
		return b
	}
	return appendUnit(b, rest, small)
}
