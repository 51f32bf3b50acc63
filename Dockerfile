# The image of the service. The first stage compiles; the second has no compiler and no development package.
# The stages of .ci/run use the same release line of Node.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts/build.mjs scripts/build-docs-reader.mjs scripts/build-site.mjs scripts/entries.mjs scripts/make-notices.mjs scripts/pack-files.mjs scripts/site-packages.mjs scripts/
COPY src src
COPY projections projections
COPY CHANGELOG.md ./
COPY docs docs
# The time of the commit, for the list of packages: --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
ARG SOURCE_DATE_EPOCH
RUN node scripts/build.mjs && node scripts/build-site.mjs && npm prune --omit=dev

FROM node:26-slim
# glibc gives each thread memory of its own otherwise: 20 MB more.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
COPY LICENSE NOTICE ./
COPY --from=build /app/package.json /app/THIRD-PARTY /app/sbom.cdx.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# The program belongs to root. The user that runs it can write to the data, and to the volume of keys where it is mounted so.
RUN mkdir -m 700 /data /keys && chown node:node /data /keys
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/cli.js", "serve"]
