package server

import (
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// lifeFlags are the flags of how a server comes and goes, and of what it tells browsers.
type lifeFlags struct{ origins []string }

func (l *lifeFlags) add(set *pflag.FlagSet, c *Config) {
	set.DurationVar(&c.LivezGracePeriod, "livez-grace-period", 0,
		"how long after the start /livez passes although post-start hooks have not finished")
	set.DurationVar(&c.ShutdownDelay, "shutdown-delay-duration", 0,
		"how long the server goes on to serve after SIGTERM, while /readyz fails and load balancers notice")
	set.BoolVar(&c.Ending.TooMany, "shutdown-send-retry-after", false,
		"refuse requests during the shutdown with 429 and Retry-After: 5, instead of 503 and Retry-After: 1")
	set.DurationVar(&c.Ending.Spread, "shutdown-watch-termination-grace-period", 0,
		"time over which the shutdown spreads the ends of watches; 0 ends them at once")
	set.Float64Var(&c.GoAwayChance, "goaway-chance", 0,
		"probability, at most 0.02, with which a request of HTTP/2 makes its client connect anew, so that clients "+
			"spread over replicas again")
	set.StringSliceVar(&c.StrictTransport, "strict-transport-security-directives", nil,
		"directives of the header Strict-Transport-Security: max-age=<seconds>, includeSubDomains, preload; without "+
			"them, the server doesn't send it")
	set.StringSliceVar(&l.origins, "cors-allowed-origins", nil,
		"regular expressions of the origins whose pages may read answers in a browser, such as "+
			"^https://shop\\.example\\.com$; each begins with ^ or // and ends with $ or :")
	set.IntVar(&c.MaxStreams, "http2-max-streams-per-connection", 0,
		"how many requests a client may have at once on a connection of HTTP/2; 0 means 250")
}

// maxGoAway is the largest chance that kube-apiserver accepts: one request in fifty.
const maxGoAway = 0.02

// check finds errors, and compiles the origins.
func (l *lifeFlags) check(c *Config, bad func(format string, args ...any)) {
	for _, row := range []struct {
		name  string
		value time.Duration
	}{
		{"livez-grace-period", c.LivezGracePeriod},
		{"shutdown-delay-duration", c.ShutdownDelay},
		{"shutdown-watch-termination-grace-period", c.Ending.Spread},
	} {
		if row.value < 0 {
			bad("--%s: %s must not be negative", row.name, row.value)
		}
	}
	if c.GoAwayChance < 0 || c.GoAwayChance > maxGoAway {
		bad("--goaway-chance: %g must be between 0 and %g", c.GoAwayChance, maxGoAway)
	}
	if c.MaxStreams < 0 {
		bad("--http2-max-streams-per-connection: %d must not be negative", c.MaxStreams)
	}
	for _, directive := range c.StrictTransport {
		if !hstsDirective.MatchString(directive) {
			bad("--strict-transport-security-directives: %q is none of max-age=<seconds>, includeSubDomains and "+
				"preload", directive)
		}
	}
	c.AllowedOrigins = nil
	for _, origin := range l.origins {
		expression, err := regexp.Compile(origin)
		switch {
		case err != nil:
			bad("--cors-allowed-origins: %q: %v", origin, err)
		case !anchored(origin):
			bad("--cors-allowed-origins: %q must begin with ^ or // and end with $ or :, or it would match other hosts",
				origin)
		}
		c.AllowedOrigins = append(c.AllowedOrigins, expression)
	}
}

var hstsDirective = regexp.MustCompile(`^(max-age=[0-9]+|includeSubDomains|preload)$`)

// anchored reports whether an expression names the beginning of a host and its end.
func anchored(origin string) bool {
	begins := strings.HasPrefix(strings.TrimLeft(origin, "("), "^") ||
		strings.HasPrefix(strings.TrimLeft(origin, "("), "//")
	end := strings.TrimRight(origin, ")")
	return begins && (strings.HasSuffix(end, "$") || strings.HasSuffix(end, ":"))
}
