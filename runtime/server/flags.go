package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/logging"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"github.com/spf13/pflag"
)

// flags are the flags of the command. They have the names and meanings of kube-apiserver's flags. --quota-backend-bytes
// is a flag of etcd; --data-dir, --tls-san, --garbage-collector, --watch-cache-consistency-check and
// --watch-cache-compress-after are our own.
type flags struct {
	server Config // the fields whose flags have the same meaning, and MaxReads and MaxWrites, where 0 means no bound
	etcd   etcd.Config

	encryptionConfig       string
	encryptionReload       bool
	dataDir                string
	quota                  int64
	bindAddress            string
	securePort             int
	certificates           certificateFlags
	tokenFile              string
	authorizationModes     []string
	anonymous              bool
	minRequestTimeout      int
	watchCache             bool
	runtimeConfig          []string
	enableGarbageCollector bool
	garbageCollector       string
	life                   lifeFlags
	contention             bool
	logFormat              string
	verbosity              int
}

func (f *flags) add(set *pflag.FlagSet, embedded bool) {
	servers := "URLs of the etcd cluster that stores objects, separated by commas"
	if embedded {
		servers += "; without it, an etcd inside this process stores them in --data-dir"
	}
	set.StringSliceVar(&f.etcd.Endpoints, "etcd-servers", nil, servers)
	set.StringVar(&f.server.Prefix, "etcd-prefix", "/registry", "prefix of all keys in etcd")
	set.StringVar(&f.etcd.CAFile, "etcd-cafile", "", "certificate authority of the etcd servers")
	set.StringVar(&f.etcd.CertFile, "etcd-certfile", "", "client certificate for etcd")
	set.StringVar(&f.etcd.KeyFile, "etcd-keyfile", "", "key of the client certificate for etcd")
	set.DurationVar(&f.server.CompactionInterval, "etcd-compaction-interval", 5*time.Minute,
		"how often one of the servers drops old revisions from etcd; 0 means never")
	set.Var(mediaTypeFlag{&f.server.StorageEncoding}, "storage-media-type",
		"media type of objects in etcd: "+strings.Join(mediaTypes(), " or ")+"; kinds whose Go types have no protobuf "+
			"are stored in JSON")
	set.StringVar(&f.dataDir, "data-dir", "data",
		"directory of the files that the server makes: certificates, the admin kubeconfig, the embedded etcd")
	if embedded {
		set.Int64Var(&f.quota, "quota-backend-bytes", storage.DefaultQuota,
			"size up to which the embedded etcd accepts writes")
	}
	set.StringVar(&f.encryptionConfig, "encryption-provider-config", "",
		"file with an EncryptionConfiguration, in kube-apiserver's format, for the encryption of values in etcd")
	set.BoolVar(&f.encryptionReload, "encryption-provider-config-automatic-reload", false,
		"read --encryption-provider-config again within a minute after it changes")
	set.StringVar(&f.bindAddress, "bind-address", "127.0.0.1",
		"IP address to listen on; 0.0.0.0 or :: for all interfaces")
	set.IntVar(&f.securePort, "secure-port", 6443, "port of HTTPS; 0 means a free port")
	f.certificates.add(set)
	set.StringVar(&f.tokenFile, "token-auth-file", "", "CSV of bearer tokens: token,user,uid,\"group1,group2\"")
	set.StringSliceVar(&f.authorizationModes, "authorization-mode", nil,
		"who decides what users may do, in this order: AlwaysAllow, AlwaysDeny, and the modes of the server's "+
			"features; by default RBAC, or where the server doesn't have it, system:masters may do everything and "+
			"other authenticated users read discovery")
	set.StringSliceVar(&f.server.AlwaysAllowPaths, "authorization-always-allow-paths", healthPaths,
		"paths that every user may ask for; one that ends in * stands for all that begin so")
	set.StringSliceVar(&f.server.EnableAdmission, "enable-admission-plugins", nil,
		"admission plug-ins that run although they are off by default")
	set.StringSliceVar(&f.server.DisableAdmission, "disable-admission-plugins", nil,
		"admission plug-ins that don't run although they are on by default")
	set.StringVar(&f.server.AdmissionConfig, "admission-control-config-file", "",
		"file with an AdmissionConfiguration, in kube-apiserver's format, which configures admission plug-ins")
	set.BoolVar(&f.anonymous, anonymousFlag, false,
		"whether requests without credentials are those of system:anonymous; without this flag, health checks are")
	set.DurationVar(&f.server.RequestTimeout, "request-timeout", time.Minute,
		"how long a request may take, except for watches")
	set.IntVar(&f.minRequestTimeout, "min-request-timeout", 1800,
		"how many seconds a watch lasts, at least, before the server ends it")
	set.IntVar(&f.server.MaxReads, "max-requests-inflight", 400,
		"how many reads the server serves at once; 0 means no bound; with priority and fairness, a part of the seats")
	set.IntVar(&f.server.MaxWrites, "max-mutating-requests-inflight", 200,
		"how many writes the server serves at once; 0 means no bound; with priority and fairness, a part of the seats")
	set.BoolVar(&f.watchCache, "watch-cache", true, "serve reads from memory")
	set.DurationVar(&f.server.CheckCache, "watch-cache-consistency-check", 0,
		"how often the server compares its caches with storage, of which it reads everything; 0 means never")
	set.DurationVar(&f.server.CompressCache, "watch-cache-compress-after", 5*time.Minute,
		"after how long an object that nobody read is kept compressed in memory, up to twice that; 0 means never")
	set.StringSliceVar(&f.runtimeConfig, "runtime-config", nil,
		"versions and resources to switch on or off: <group>/<version>[/<resource>]=true|false, api/all, api/ga, "+
			"api/beta, api/alpha; everything else is on")
	f.addGarbage(set)
	f.life.add(set, &f.server)
	set.BoolVar(&f.server.Profiling, "profiling", true, "serve /debug/pprof to administrators")
	set.StringVar(&f.logFormat, "logging-format", logging.Text, "format of the log: text or json")
	set.IntVarP(&f.verbosity, "v", "v", 0,
		"how much the server logs: 3 adds each request, 4 what slog's level Debug has; /debug/flags/v changes it")
	set.BoolVar(&f.contention, "contention-profiling", false,
		"with --profiling, record where goroutines wait for one another: /debug/pprof/block and /debug/pprof/mutex")
}

// anonymousFlag is the name of a flag that has three states: not given, true and false.
const anonymousFlag = "anonymous-auth"

// anonymousUser returns which requests may be anonymous; nil is what holds without the flag.
func (f *flags) anonymousUser(set *pflag.FlagSet) func(*http.Request) *auth.User {
	switch {
	case !set.Changed(anonymousFlag):
		return nil
	case f.anonymous:
		return auth.AnonymousEverywhere
	}
	return auth.AnonymousNowhere
}

// wrongPath reports whether a text is not a path, and no beginning of paths before *.
func wrongPath(path string) bool {
	return !strings.HasPrefix(path, "/") || strings.Contains(strings.TrimSuffix(path, "*"), "*")
}

// minQuota is a little more than the size of an empty database.
const minQuota = 1 << 20

// check returns the errors in the flags. It starts and writes nothing.
func (f *flags) check(embedded bool) error {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, server := range f.etcd.Endpoints {
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "unix", "unixs"}, u.Scheme) {
			bad("--etcd-servers: %q is no URL like https://10.0.0.1:2379", server)
		}
	}
	noServers, clean := len(f.etcd.Endpoints) == 0, path.Clean(f.server.Prefix)
	for _, row := range []struct {
		wrong  bool
		format string
		args   []any
	}{
		{noServers && !embedded, "--etcd-servers is required: this server was built without the embedded etcd", nil},
		{noServers && f.etcd.CAFile+f.etcd.CertFile+f.etcd.KeyFile != "",
			"--etcd-cafile, --etcd-certfile and --etcd-keyfile go with --etcd-servers", nil},
		{clean == "/" || clean != strings.TrimSuffix(f.server.Prefix, "/") || clean[0] != '/',
			"--etcd-prefix: %q must begin with a slash and name something, without dots and empty parts: /registry",
			[]any{f.server.Prefix}},
		{f.encryptionReload && f.encryptionConfig == "",
			"--encryption-provider-config-automatic-reload goes with --encryption-provider-config", nil},
		{net.ParseIP(f.bindAddress) == nil, "--bind-address: %q is no IP address", []any{f.bindAddress}},
		{f.securePort < 0 || f.securePort > 65535, "--secure-port: %d is no port", []any{f.securePort}},
		{f.server.CompactionInterval < 0, "--etcd-compaction-interval: %s must not be negative",
			[]any{f.server.CompactionInterval}},
		{f.server.CheckCache < 0, "--watch-cache-consistency-check: %s must not be negative",
			[]any{f.server.CheckCache}},
		{f.server.CompressCache < 0, "--watch-cache-compress-after: %s must not be negative",
			[]any{f.server.CompressCache}},
		{embedded && f.quota < minQuota, "--quota-backend-bytes: %d must be at least %d", []any{f.quota, minQuota}},
		{f.server.RequestTimeout <= 0, "--request-timeout: %s must be above 0", []any{f.server.RequestTimeout}},
		{slices.ContainsFunc(f.server.AlwaysAllowPaths, wrongPath),
			"--authorization-always-allow-paths: %q must be paths that begin with a slash, with * at the end alone",
			[]any{f.server.AlwaysAllowPaths}},
		{f.minRequestTimeout < 1, "--min-request-timeout: %d must be at least 1", []any{f.minRequestTimeout}},
		{f.logFormat != logging.Text && f.logFormat != logging.JSON, "--logging-format: %q is neither text nor json",
			[]any{f.logFormat}},
		{f.verbosity < 0, "-v: %d must not be negative", []any{f.verbosity}},
		{f.server.MaxReads < 0 || f.server.MaxWrites < 0,
			"--max-requests-inflight and --max-mutating-requests-inflight must not be negative", nil},
	} {
		if row.wrong {
			bad(row.format, row.args...)
		}
	}
	f.checkGarbage(bad)
	f.life.check(&f.server, bad)
	f.certificates.check(bad)
	f.checkFiles(bad)
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}

// checkFiles finds files that don't exist, and flags that need another one.
func (f *flags) checkFiles(bad func(format string, args ...any)) {
	for _, pair := range [][4]string{
		{f.certificates.files.Certificate, f.certificates.files.Key, "tls-cert-file", "tls-private-key-file"},
		{f.etcd.CertFile, f.etcd.KeyFile, "etcd-certfile", "etcd-keyfile"},
	} {
		if (pair[0] == "") != (pair[1] == "") {
			bad("--%s and --%s go together", pair[2], pair[3])
		}
	}
	for _, file := range append([][2]string{
		{"token-auth-file", f.tokenFile}, {"etcd-cafile", f.etcd.CAFile}, {"etcd-certfile", f.etcd.CertFile},
		{"etcd-keyfile", f.etcd.KeyFile}, {"encryption-provider-config", f.encryptionConfig},
	}, f.certificates.named()...) {
		if file[1] == "" {
			continue
		}
		if _, err := os.Stat(file[1]); err != nil {
			bad("--%s: %v", file[0], err)
		}
	}
}

// classified is the annotation of flags whose values nobody sees, as in Kubernetes.
const classified = "classified"

// values returns the values of all flags, for /flagz.
func values(set *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	set.VisitAll(func(flag *pflag.Flag) {
		all[flag.Name] = flag.Value.String()
		if len(flag.Annotations[classified]) > 0 {
			all[flag.Name] = "CLASSIFIED"
		}
	})
	return all
}
