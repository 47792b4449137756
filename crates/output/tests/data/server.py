# Answers for raw.js; see README.md.
import http.server,sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version='HTTP/1.1'
    def do_GET(self):
        if self.path.startswith('/redirect'):
            self.send_response(302); self.send_header('Location','/final'); self.send_header('Content-Length','0'); self.end_headers(); return
        code=404 if self.path.startswith('/missing') else 200
        b=b'hello'
        self.send_response(code); self.send_header('Content-Length',str(len(b))); self.end_headers(); self.wfile.write(b)
    def log_message(self,*a): pass
http.server.ThreadingHTTPServer(('127.0.0.1',8099),H).serve_forever()
