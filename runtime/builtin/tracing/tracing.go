// Package tracing sends the spans of requests to an OpenTelemetry collector, as kube-apiserver's TracingConfiguration
// says. A main that doesn't name its feature links nothing of OpenTelemetry.
//
// It may know packages filter, registry, request, server and timing.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Feature is the feature of a server that is traced.
type Feature struct {
	// File is the path of a TracingConfiguration; "" traces nothing.
	File string
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.File, "tracing-config-file", f.File,
		"file with a TracingConfiguration, in kube-apiserver's format; without it, nothing is traced")
}

// configuration is the content of the file.
type configuration struct {
	metav1.TypeMeta `json:",inline"`
	// Endpoint is that of the collector, for OTLP over gRPC without TLS; "" is localhost:4317.
	Endpoint string `json:"endpoint"`
	// SamplingRatePerMillion is how many spans without a parent are recorded. A span with a parent is recorded if the
	// parent is.
	SamplingRatePerMillion int32 `json:"samplingRatePerMillion"`
}

const million = 1_000_000

var errKind = errors.New("it must be a TracingConfiguration of apiserver.config.k8s.io/v1, v1beta1 or v1alpha1")

func read(path string) (c configuration, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return c, err
	}
	version, ok := strings.CutPrefix(c.APIVersion, "apiserver.config.k8s.io/")
	if !ok || c.Kind != "TracingConfiguration" || version != "v1" && version != "v1beta1" && version != "v1alpha1" {
		return c, errKind
	}
	if c.SamplingRatePerMillion < 0 || c.SamplingRatePerMillion > million {
		return c, fmt.Errorf("samplingRatePerMillion: %d is not between 0 and %d", c.SamplingRatePerMillion, million)
	}
	return c, checkEndpoint(c.Endpoint)
}

func checkEndpoint(endpoint string) error {
	if !strings.Contains(endpoint, "//") {
		endpoint = "dns://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	switch u.Scheme {
	case "dns", "unix", "unix-abstract":
		return nil
	}
	return fmt.Errorf("endpoint: the scheme %q is none of dns, unix and unix-abstract", u.Scheme)
}

// Configure implements server.Feature. The hook tracing connects to the collector, and sends what is left at the end.
func (f *Feature) Configure(context.Context, *server.Config) (server.Contribution, error) {
	if f.File == "" {
		return server.Contribution{}, nil
	}
	c, err := read(f.File)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--tracing-config-file %s: %w", f.File, err)
	}
	t := new(tracer)
	return server.Contribution{Tracer: t, Hooks: []server.Hook{{
		Name: "tracing", PostStart: func(ctx context.Context) error { return t.begin(ctx, c) }, Run: t.run,
	}}}, nil
}

// flushTime bounds how long the end waits for the collector.
const flushTime = 5 * time.Second

// begin records spans from now on. A collector that can't be reached costs spans, and nothing else.
func (t *tracer) begin(ctx context.Context, c configuration) error {
	options := []otlptracegrpc.Option{otlptracegrpc.WithInsecure()}
	if c.Endpoint != "" {
		options = append(options, otlptracegrpc.WithEndpoint(c.Endpoint))
	}
	exporter, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return err
	}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())), // sampled has drawn those without a parent
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "apiserver"))),
	)
	t.made.Store(&sampled{t.provider.Tracer("apigen.dev/runtime/builtin/tracing"), c.SamplingRatePerMillion})
	return nil
}

// run waits until ctx ends, and sends what is left.
func (t *tracer) run(ctx context.Context) error {
	<-ctx.Done()
	t.made.Store(nil)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	_ = t.provider.Shutdown(last) // nobody is there to repeat it
	return nil
}
