package serviceaccount

import (
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// claims are what a token says. They are written in kube-apiserver's order.
type claims struct {
	Audience   audience   `json:"aud,omitempty"`
	Expires    *timestamp `json:"exp,omitempty"`
	IssuedAt   *timestamp `json:"iat,omitempty"`
	Issuer     string     `json:"iss,omitempty"`
	ID         string     `json:"jti,omitempty"`
	Kubernetes private    `json:"kubernetes.io"`
	NotBefore  *timestamp `json:"nbf,omitempty"`
	Subject    string     `json:"sub,omitempty"`
}

// private are the claims about Kubernetes' objects.
type private struct {
	// Mutating and Validating are the webhooks for which kube-apiserver signs tokens. This server signs none.
	Mutating   *reference `json:"mutatingwebhookconfiguration,omitempty"`
	Namespace  string     `json:"namespace,omitempty"`
	Node       *reference `json:"node,omitempty"`
	Pod        *reference `json:"pod,omitempty"`
	Secret     *reference `json:"secret,omitempty"`
	Account    reference  `json:"serviceaccount"`
	Validating *reference `json:"validatingwebhookconfiguration,omitempty"`
	// WarnAfter is when the token was to expire, if it was extended.
	WarnAfter *timestamp `json:"warnafter,omitempty"`
}

// reference names an object of a token.
type reference struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// audience is a list of audiences. On the wire, one audience may stand without its list.
type audience []string

func (a *audience) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*a = audience{""}
		return json.Unmarshal(data, &(*a)[0])
	}
	var list []string
	err := json.Unmarshal(data, &list)
	*a = list
	return err
}

func (a audience) intersect(wanted []string) []string {
	var common []string
	for _, one := range a {
		if slices.Contains(wanted, one) {
			common = append(common, one)
		}
	}
	return common
}

// timestamp is a time on the wire: seconds since 1970, of which parts of a second are dropped.
type timestamp struct{ time.Time }

// maxSeconds is the last second of the year 9999, beyond which no time is meant.
const maxSeconds = 253402300799

func at(t time.Time) *timestamp { return &timestamp{t.Truncate(time.Second)} }

func (t timestamp) MarshalJSON() ([]byte, error) { return json.Marshal(t.Unix()) }

func (t *timestamp) UnmarshalJSON(data []byte) error {
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return err
	}
	if seconds < 0 || seconds > maxSeconds {
		return errors.New("a time is before 1970 or after the year 9999")
	}
	t.Time = time.Unix(int64(seconds), 0)
	return nil
}

// leeway is how far the clocks of the server that signed a token and of the one that reads it may differ.
const leeway = time.Minute

// current reports whether the claims hold at a time.
func (c *claims) current(now time.Time) error {
	switch {
	case c.Expires == nil:
		return errors.New("service account token does not expire")
	case c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time):
		return errors.New("service account token is not valid yet")
	case now.Add(-leeway).After(c.Expires.Time):
		return errors.New("service account token has expired")
	case c.IssuedAt != nil && now.Add(leeway).Before(c.IssuedAt.Time):
		return errors.New("service account token is issued in the future")
	}
	return nil
}
