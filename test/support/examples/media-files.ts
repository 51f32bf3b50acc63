/* Small files of the kinds that the page of shares shows. */
import { crc32, deflateSync } from 'node:zlib';

/** Red, green, blue and opacity of a point: 0 to 255. */
type Paint = (x: number, y: number) => readonly [number, number, number, number];

/** Paints hills under an evening sky, as a photo would look. */
export const landscape: Paint = (x, y) => {
  const hill = 0.62 + 0.08 * Math.sin(x * 7) + 0.04 * Math.sin(x * 17 + 1);
  if (y > hill) return [30 + 60 * (1 - y), 70 + 50 * (1 - y), 60, 255];
  const sun = Math.hypot(x - 0.7, y - 0.45) < 0.07;
  return sun ? [255, 236, 190, 255] : [70 + 180 * y, 110 + 80 * y, 190 - 60 * y, 255];
};

/** Paints a black ring on nothing. */
export const blackLogo: Paint = (x, y) => {
  const distance = Math.hypot(x - 0.5, y - 0.5);
  return [0, 0, 0, distance > 0.22 && distance < 0.4 ? 255 : 0];
};

/** Makes a PNG; grey without a painter, which receives parts of width and height: 0 to 1. */
export function makePng(width: number, height: number, paint?: Paint): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    checksum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, checksum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.writeUInt8(8, 8);
  head.writeUInt8(paint === undefined ? 0 : 6, 9);
  const pointBytes = paint === undefined ? 1 : 4;
  const rows = Buffer.alloc((width * pointBytes + 1) * height);
  for (let y = 0; paint !== undefined && y < height; y += 1) {
    for (let x = 0; x < width; x += 1)
      rows.set(paint(x / width, y / height), y * (width * 4 + 1) + 1 + x * 4);
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const none = Buffer.alloc(0);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', none),
  ]);
}

/** Makes a silent sound. */
export function makeWav(seconds: number): Buffer {
  const rate = 8_000;
  const samples = Buffer.alloc(seconds * rate, 0x80);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** Makes a PDF of one page with one line of text. */
export function makePdf(line: string): Buffer {
  const content = `BT /F1 24 Tf 72 720 Td (${line}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let text = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
  );
}

/** The body of a function that records a second of video in a page, and returns it in base64. */
export const recordWebm = `
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [640, 360];
  const brush = canvas.getContext('2d');
  const recorder = new MediaRecorder(canvas.captureStream(10), { mimeType: 'video/webm' });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start();
  for (let frame = 0; frame < 10; frame += 1) {
    brush.fillStyle = 'hsl(' + frame * 20 + ' 60% 40%)';
    brush.fillRect(0, 0, 640, 360);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  recorder.stop();
  await ended;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));`;
