package agreement_test

// texts are values of the strings of each kind.
var texts = map[string][]string{
	"Sign":   {"", "x", "ab", "abc"},
	"Poster": {"", "x", "ab"},
	"Meter":  {"1m0s", "5s", "0s"},
}

// chosen are objects that show one case each.
var chosen = map[string][]string{
	"Sign": {
		`{"spec":{"logo":{}}}`, `{"spec":{"place":""}}`, `{"spec":{"frame":{}}}`, `{"spec":{"margin":{}}}`,
		`{"spec":{"lines":[{"text":"a","logo":{}}]}}`,
	},
	"Poster": {`{"spec":{"hue":"red"}}`, `{"spec":{"logo":{"name":""}}}`},
	"Meter":  {`{"spec":{"timeout":"0s"}}`, `{"spec":{"waits":[{"of":"a"}]}}`},
}

// The reasons of differences.
const (
	absent    = "a struct that the client didn't send counts as sent"
	explicit  = "a zero value that the client sent isn't kept"
	presence  = "the server doesn't know what the client sent"
	decoding  = "the Go type can't hold the value"
	canonical = "the Go type writes the value in its canonical form"
)

// known are the differences that are left, by kind and reason.
var known = map[string]map[string][]string{
	"Meter": {
		absent: {
			`only the type stores spec`,
			`only the type stores spec.capacity`,
			`only the type stores spec.port`,
			`only the type stores spec.since`,
			`only the type stores spec.timeout`,
			`only the type stores spec.waits[].for`,
		},
		explicit: {
			`only the definition stores spec.waits`,
		},
		presence: {
			`only the definition refuses spec.capacity`,
			`only the definition refuses spec.limit`,
			`only the definition refuses spec.share`,
			`only the definition refuses spec.waits[]`,
			`only the definition refuses spec.waits[].of`,
		},
		decoding: {
			`only the type refuses what it can't decode`,
		},
		canonical: {
			`stored spec.capacity is "0" by the type and 0 by the definition`,
			`stored spec.capacity is "7" by the type and 7 by the definition`,
			`stored spec.limit is "0" by the type and 0 by the definition`,
			`stored spec.limit is "7" by the type and 7 by the definition`,
		},
	},
	"Poster": {
		absent: {
			`only the type refuses spec`,
			`only the type refuses spec.sheets[]`,
		},
		explicit: {
			`only the definition stores spec.hue`,
			`only the definition stores spec.sheets`,
			`only the definition stores spec.sheets[].size.height`,
			`only the definition stores spec.sheets[].size.width`,
		},
		presence: {
			`only the definition refuses <nil>`,
			`only the definition refuses spec.logo.name`,
			`only the definition refuses spec.logo.shape`,
			`only the definition refuses spec.sheets[]`,
		},
	},
	"Sign": {
		absent: {
			`only the type refuses spec.frame.color`,
			`only the type refuses spec.lamps[]`,
			`only the type refuses spec.lines[].frame.color`,
			`only the type refuses spec.margin`,
			`only the type refuses spec.parts[].frame.color`,
			`only the type stores spec.inner`,
			`only the type stores spec.lamps[].margin`,
			`only the type stores spec.lines[].logo`,
			`only the type stores spec.logo`,
			`only the type stores status`,
		},
		explicit: {
			`only the definition stores spec.back`,
			`only the definition stores spec.lamps`,
			`only the definition stores spec.note`,
			`only the definition stores spec.parts`,
			`stored spec.border.width is 3 by the type and 0 by the definition`,
			`stored spec.frame.width is 3 by the type and 0 by the definition`,
		},
		presence: {
			`only the definition refuses spec.back.name`,
			`only the definition refuses spec.back.shape`,
			`only the definition refuses spec.height`,
			`only the definition refuses spec.inner.name`,
			`only the definition refuses spec.inner.shape`,
			`only the definition refuses spec.lamps[]`,
			`only the definition refuses spec.lamps[].margin.right`,
			`only the definition refuses spec.lamps[].name`,
			`only the definition refuses spec.lamps[].watts`,
			`only the definition refuses spec.lines`,
			`only the definition refuses spec.lines[]`,
			`only the definition refuses spec.lines[].logo.name`,
			`only the definition refuses spec.lines[].logo.shape`,
			`only the definition refuses spec.lines[].side`,
			`only the definition refuses spec.lines[].text`,
			`only the definition refuses spec.logo.name`,
			`only the definition refuses spec.logo.shape`,
			`only the definition refuses spec.margin.right`,
			`only the definition refuses spec.material`,
			`only the definition refuses spec.parts[].logo.name`,
			`only the definition refuses spec.parts[].logo.shape`,
			`only the definition refuses spec.parts[].side`,
			`only the definition refuses spec.parts[].text`,
			`only the definition refuses spec.place`,
			`only the definition refuses spec.title`,
		},
	},
}
