package rendition

import (
	"strconv"
	"time"
)

// MaxAge is more than the length of any age.
const MaxAge = 32

// AppendAge appends the time from since until now, as kubectl shows ages.
func AppendAge(b []byte, since, now time.Time) []byte {
	if since.IsZero() {
		return append(b, "<unknown>"...)
	}
	return appendDuration(b, now.Sub(since))
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// AgeChanges returns the first moment after now at which AppendAge may write another age; never later.
func AgeChanges(since, now time.Time) time.Time {
	if since.IsZero() {
		return now.Add(year)
	}
	d, unit := now.Sub(since), year
	switch {
	case d <= -2*time.Second:
		return now.Add(time.Nanosecond) // it changes soon, and is wrong anyway
	case d < 10*time.Minute:
		unit = time.Second
	case d < 8*time.Hour:
		unit = time.Minute
	case d < 8*day:
		unit = time.Hour
	case d < 8*year:
		unit = day
	}
	return since.Add(d.Truncate(unit) + unit)
}

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
