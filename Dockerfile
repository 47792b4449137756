# A container with nothing in it but Onrush and the certificates of the web's authorities.
#
#   docker build -t onrush .
#   docker run --rm -i onrush run - < script.js
#   docker run --rm -v "$PWD:/scripts:ro" onrush run script.js
#
# docs/guide/containers.md has more.

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev make binutils ca-certificates \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
ENV CARGO_TARGET_DIR=/build
# PROFILE=quick builds in minutes what `release` takes ten for, and is a few percent slower when it runs.
ARG PROFILE=release
RUN make static PROFILE=$PROFILE

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/target/dist/static/onrush /usr/bin/onrush
COPY --from=build /src/LICENSE /src/NOTICE /usr/share/doc/onrush/
# Not root, and no user of the host either.
USER 65532:65532
WORKDIR /scripts
ENTRYPOINT ["/usr/bin/onrush"]
