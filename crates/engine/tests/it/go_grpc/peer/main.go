// Serves what crates/testsite/assets/grpc describes with Go's own library: a peer that shares no code with ours.
//
// Variables: DESCRIPTORS is a serialised FileDescriptorSet, REFLECTION v1 or v1alpha; with CERT, KEY and CA it speaks TLS
// and wants a client certificate. It prints its address and ends with its standard input.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

type services map[string]grpc.ServiceInfo

func (s services) GetServiceInfo() map[string]grpc.ServiceInfo { return s }

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	var set descriptorpb.FileDescriptorSet
	must(0, proto.Unmarshal(must(os.ReadFile(os.Getenv("DESCRIPTORS"))), &set))
	files := must(protodesc.NewFiles(&set))
	options := []grpc.ServerOption{grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error { return serve(files, stream) })}
	if os.Getenv("CERT") != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(must(os.ReadFile(os.Getenv("CA"))))
		options = append(options, grpc.Creds(credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{must(tls.LoadX509KeyPair(os.Getenv("CERT"), os.Getenv("KEY")))},
			ClientCAs:    roots,
			ClientAuth:   tls.RequireAndVerifyClientCert,
		})))
	}
	server := grpc.NewServer(options...)
	described := reflection.ServerOptions{Services: services{"target.Echo": {}, "target.Flow": {}}, DescriptorResolver: files, ExtensionResolver: protoregistry.GlobalTypes}
	if os.Getenv("REFLECTION") == "v1alpha" {
		v1alpha.RegisterServerReflectionServer(server, reflection.NewServer(described))
	} else {
		v1.RegisterServerReflectionServer(server, reflection.NewServerV1(described))
	}
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println(listener.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	must(0, server.Serve(listener))
}

// serve answers a call of any kind as the built-in target does.
func serve(files *protoregistry.Files, stream grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(stream)
	found, err := files.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")))
	method, ok := found.(protoreflect.MethodDescriptor)
	if err != nil || !ok {
		return status.Errorf(codes.Unimplemented, "unknown method %s", path)
	}
	sent, _ := metadata.FromIncomingContext(stream.Context())
	head, tail := metadata.MD{}, metadata.MD{}
	for name, values := range sent {
		if strings.HasPrefix(name, "head-") {
			head[name] = values
		}
		if strings.HasPrefix(name, "trail-") {
			tail[name] = values
		}
	}
	if len(sent["use-gzip"]) > 0 {
		if err := grpc.SetSendCompressor(stream.Context(), "gzip"); err != nil {
			return err
		}
	}
	stream.SetHeader(head)
	stream.SetTrailer(tail)

	answer := func() *dynamicpb.Message { return dynamicpb.NewMessage(method.Output()) }
	set := func(message *dynamicpb.Message, name string, value any) *dynamicpb.Message {
		message.Set(message.Descriptor().Fields().ByName(protoreflect.Name(name)), protoreflect.ValueOf(value))
		return message
	}
	var sum int64
	for {
		message := dynamicpb.NewMessage(method.Input())
		if err := stream.RecvMsg(message); err == io.EOF {
			if method.Name() == "Sum" {
				return stream.SendMsg(set(answer(), "value", sum))
			}
			return nil
		} else if err != nil {
			return err
		}
		field := func(name string) protoreflect.Value {
			return message.Get(message.Descriptor().Fields().ByName(protoreflect.Name(name)))
		}
		switch method.Name() {
		case "Say", "All", "Old", "Wrapped", "Nothing":
			return stream.SendMsg(message)
		case "Metadata":
			fields := answer()
			entries := fields.Mutable(fields.Descriptor().Fields().ByName("fields")).Map()
			for name, values := range sent {
				entries.Set(protoreflect.ValueOfString(name).MapKey(), protoreflect.ValueOfString(strings.Join(values, ",")))
			}
			return stream.SendMsg(fields)
		case "Fail":
			if details := field("details").Bytes(); len(details) > 0 {
				var failure spb.Status
				if err := proto.Unmarshal(details, &failure); err != nil {
					return err
				}
				return status.ErrorProto(&failure)
			}
			return status.Error(codes.Code(field("code").Int()), field("message").String())
		case "Wait":
			time.Sleep(time.Duration(field("milliseconds").Int()) * time.Millisecond)
			return stream.SendMsg(set(answer(), "text", "waited"))
		case "Long":
			return stream.SendMsg(set(answer(), "text", strings.Repeat("x", int(field("value").Int()))))
		case "Count":
			for n := field("from").Int(); n <= field("to").Int(); n++ {
				if err := stream.SendMsg(set(answer(), "value", n)); err != nil {
					return err
				}
			}
			if code := field("code").Int(); code != 0 {
				return status.Error(codes.Code(code), "the count is over")
			}
			return nil
		case "Sum":
			sum += field("value").Int()
		case "Mirror":
			switch field("text").String() {
			case "fail":
				return status.Error(codes.Aborted, "asked to fail")
			case "end":
				return nil
			}
			if err := stream.SendMsg(message); err != nil {
				return err
			}
		default:
			return status.Errorf(codes.Unimplemented, "method %s not implemented", method.Name())
		}
	}
}
