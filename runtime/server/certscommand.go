package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	neturl "net/url"
	"os"
	"text/tabwriter"
	"time"

	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"
)

// certsCommand is `<server> certs`, with which an operator looks after the certificates in a data directory.
func certsCommand(program Program) *cobra.Command {
	command := &cobra.Command{
		Use:   "certs",
		Short: "List and renew certificates",
		Long: `List and renew the certificates of a server. The commands read and write files, whether or not the
server runs: a server that runs takes changed files within ` + fileInterval.String() + `, without a restart.`,
		Args: cobra.NoArgs, // a misspelled command is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	dir := command.PersistentFlags().String("data-dir", "data", "data directory of the server")
	command.AddCommand(certsListCommand(program, dir), certsRenewCommand(dir), certsDropCommand(dir))
	return command
}

// certificateFiles are the flags of the server that name certificates.
var certificateFiles = []string{"tls-cert-file", "tls-sni-cert-key", "client-ca-file", "etcd-cafile", "etcd-certfile"}

func certsListCommand(program Program, dir *string) *cobra.Command {
	var f flags
	command := &cobra.Command{
		Use:   "list",
		Short: "Print names, issuers and ends of certificates",
		Long: `Print the certificates that the server made, and those in the files that flags of the server name, if you
give the command these flags, too.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := certs.ListDir(pki(*dir))
			given, failures := f.listGiven()
			printCertificates(cmd.OutOrStdout(), append(rows, given...), time.Now())
			return errors.Join(err, failures)
		},
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.add(all, program.Embedded != nil)
	for _, name := range certificateFiles {
		command.Flags().AddFlag(all.Lookup(name))
	}
	return command
}

// listGiven returns the certificates in the files that flags name.
func (f *flags) listGiven() ([]certs.Row, error) {
	files := [][2]string{{"tls-cert-file", f.certificates.files.Certificate}}
	for _, n := range f.certificates.files.Named {
		files = append(files, [2]string{"tls-sni-cert-key", n.Certificate})
	}
	files = append(files, [2]string{"client-ca-file", f.certificates.files.ClientCA},
		[2]string{"etcd-cafile", f.etcd.CAFile}, [2]string{"etcd-certfile", f.etcd.CertFile})
	var rows []certs.Row
	var failures []error
	for _, file := range files {
		if file[1] == "" {
			continue
		}
		of, err := certs.ListFile(file[0], file[1])
		rows, failures = append(rows, of...), append(failures, err)
	}
	return rows, errors.Join(failures...)
}

func printCertificates(out io.Writer, rows []certs.Row, now time.Time) {
	if len(rows) == 0 {
		return
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tSUBJECT\tISSUER\tEXPIRES\tRESIDUAL\tFILE")
	for _, row := range rows {
		cert, left := row.Certificate, "expired"
		if now.Before(cert.NotAfter) {
			left = duration.HumanDuration(cert.NotAfter.Sub(now))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", row.Name, cert.Subject, cert.Issuer,
			cert.NotAfter.UTC().Format(time.RFC3339), left, row.File)
	}
	_ = table.Flush() // as for the other writes: there is nobody to tell
}

func certsRenewCommand(dir *string) *cobra.Command {
	var authority bool
	command := &cobra.Command{
		Use:   "renew [NAME|all]",
		Short: "Make certificates of the server anew",
		Long: `Make a certificate of the server, or all, anew: server, admin. The server does so itself sixty days
before they end. The kubeconfig of the administrator gets the new certificate, too.

With --ca the command makes a new certificate authority, and all certificates of the server by it. The old
authority stays trusted: client certificates that it signed, and clients that know only the old one, work as
before. Give your clients kubeconfigs of the new authority, and end the trust in the old one with
` + "`certs drop-old-ca`" + `; otherwise it ends with the old authority. If the key of the old authority was stolen,
drop the old one at once. Servers with data directories of their own need the files ca.crt, ca.key and
ca-chain.crt of this one.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if authority == (len(args) == 1) {
				return errors.New("name a certificate, or all, or --ca for a new authority")
			}
			return change(*dir, func(a *certs.Authority) (err error) {
				names := args
				if authority {
					if a, err = a.Rotate(); err != nil {
						return err
					}
					fmt.Fprintf(cmd.OutOrStdout(), "ca: valid until %s\n", a.Ends().UTC().Format(time.RFC3339))
				}
				if authority || args[0] == "all" {
					names = a.Renewable()
				}
				return renew(cmd.OutOrStdout(), *dir, a, names)
			})
		},
	}
	command.Flags().BoolVar(&authority, "ca", false,
		"make a new certificate authority, beside which the old one stays trusted")
	return command
}

// change calls do with the server's own authority, while nobody else changes its files.
func change(dir string, do func(a *certs.Authority) error) error {
	if _, err := os.Stat(pki(dir)); err != nil {
		return fmt.Errorf("%w; the server makes it at its first start", err)
	}
	return certs.Change(pki(dir), time.Now, do)
}

// renew renews certificates, and brings the kubeconfig of the administrator up to date.
func renew(out io.Writer, dir string, a *certs.Authority, names []string) error {
	for _, name := range names {
		cert, err := a.Renew(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: valid until %s\n", name, cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return renewKubeconfig(dir, a)
}

// renewKubeconfig writes the kubeconfig of the administrator anew, if there is one.
func renewKubeconfig(dir string, a *certs.Authority) error {
	cluster, err := readCluster(adminKubeconfig(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	admin, err := a.Administrator()
	if err != nil {
		return err
	}
	_, err = writeAdminKubeconfig(dir, cluster.name, cluster.url, cluster.trust(a), admin)
	return err
}

func certsDropCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "drop-old-ca",
		Short: "End the trust in the authorities before the last `certs renew --ca`",
		Long: `End the trust in earlier certificate authorities. Client certificates that they signed are refused from
then on, on open connections, too; clients that know only an earlier authority refuse the server.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return change(*dir, func(a *certs.Authority) error {
				dropped, err := a.DropOld()
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "ca: dropped %d earlier\n", dropped)
				if a, err = certs.OpenAuthority(pki(*dir), time.Now); err != nil {
					return err
				}
				return renew(cmd.OutOrStdout(), *dir, a, a.Renewable())
			})
		},
	}
}

// kubeconfigCommand is `<server> kubeconfig`, which makes a kubeconfig for a user.
func kubeconfigCommand(program Program) *cobra.Command {
	var client certs.Client
	var dir, url, authority, file string
	command := &cobra.Command{
		Use:   "kubeconfig --user NAME [--group NAME]...",
		Short: "Make a kubeconfig for a user, with a client certificate",
		Long: `Make a kubeconfig with a client certificate that the server's own authority signs. The server need not
run. The certificate gives a user a name and groups; what they may do is for the server's authorizer.

Nothing takes back a client certificate before it ends, short of a new authority (certs renew --ca and certs
drop-old-ca). Keep --ttl short.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := client.Check(); err != nil {
				return fmt.Errorf("%w (see --user, --group, --ttl and --allow-system)", err)
			}
			if u, err := neturl.Parse(url); url != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
				return fmt.Errorf("--server: %q is no URL like https://10.0.0.1:6443", url)
			}
			return change(dir, func(a *certs.Authority) error {
				cluster, err := clusterFor(dir, url, authority, a)
				if err != nil {
					return err
				}
				pair, err := a.Client(client)
				if err != nil {
					return err
				}
				content, err := Kubeconfig{
					Name: client.User + "@" + program.Name, Server: cluster.url, CA: cluster.ca,
					Certificate: pair.Certificate, Key: pair.Key,
				}.YAML()
				if err != nil {
					return err
				}
				return writeNew(cmd.OutOrStdout(), file, content)
			})
		},
	}
	set := command.Flags()
	set.StringVar(&dir, "data-dir", "data", "data directory of the server")
	set.StringVar(&client.User, "user", "", "name of the user")
	set.StringSliceVar(&client.Groups, "group", nil, "group of the user; repeat the flag for further groups")
	set.DurationVar(&client.TTL, "ttl", 24*time.Hour, fmt.Sprintf("how long the certificate is valid: from %s to %s",
		certs.MinTTL, certs.MaxTTL))
	set.BoolVar(&client.AllowSystem, "allow-system", false, "allow names that begin with system:, whose rights don't "+
		"come from rules of yours: nothing takes from system:masters the right to do everything")
	set.StringVar(&url, "server", "", "URL of the server; that of the admin kubeconfig if none is named")
	set.StringVar(&authority, "certificate-authority", "",
		"file of certificates (PEM) by which the user knows the server; those of the admin kubeconfig if none is named")
	set.StringVar(&file, "out", "", "new file for the kubeconfig; standard output if none is named")
	return command
}

// cluster is what a kubeconfig says about the server.
type cluster struct {
	name, url string
	ca        []byte
}

// trust returns the certificates by which clients know the server: those of its own authority as they are now, unless
// the operator gave the server another certificate.
func (c cluster) trust(a *certs.Authority) []byte {
	if len(c.ca) == 0 || a.Owns(c.ca) {
		return a.Trust()
	}
	return c.ca
}

// clusterFor returns what the flags say about the server, and else what the admin kubeconfig says.
func clusterFor(dir, url, authority string, a *certs.Authority) (cluster, error) {
	c, err := readCluster(adminKubeconfig(dir))
	if errors.Is(err, fs.ErrNotExist) && url != "" {
		err = nil
	}
	if err != nil {
		return c, fmt.Errorf("%w; name the server with --server", err)
	}
	if url != "" {
		c.url = url
	}
	c.ca = c.trust(a)
	if authority == "" {
		return c, nil
	}
	rows, err := certs.ListFile("certificate-authority", authority)
	if err != nil {
		return c, fmt.Errorf("--certificate-authority: %w", err)
	}
	c.ca = certs.Encode(rows)
	return c, nil
}

func readCluster(path string) (cluster, error) {
	config, err := kubeconfig.Read(path)
	if err != nil {
		return cluster{}, err
	}
	return cluster{config.Name, config.Server.String(), config.CA.Data}, nil
}

// writeNew writes a file with a secret, which must not exist, or to out if file is "".
func writeNew(out io.Writer, file string, content []byte) error {
	if file == "" {
		_, err := out.Write(content)
		return err
	}
	created, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists, and the command overwrites nothing", file)
	}
	if err != nil {
		return err
	}
	_, err = created.Write(content)
	return errors.Join(err, created.Close())
}
