import { detectLanguage } from './detect-language';

describe('the language of a text', () => {
  it.each([
    ['en', 'Hello, where is my order? I have been waiting for it since last week.'],
    ['de', 'Guten Tag, wo bleibt meine Bestellung? Ich warte seit einer Woche darauf.'],
    ['hi', 'नमस्ते, मेरा ऑर्डर कहाँ है? मैं एक सप्ताह से उसकी प्रतीक्षा कर रहा हूँ।'],
    ['ta', 'வணக்கம், என் ஆர்டர் எங்கே? நான் ஒரு வாரமாக காத்திருக்கிறேன்.'],
    ['es', 'Hola, ¿dónde está mi pedido? Hace una semana que lo espero.'],
    ['it', 'Buongiorno, vorrei sapere quando arriva il mio ordine, grazie.'],
    ['fr', 'Bonjour, où est ma commande ? Je l’attends depuis une semaine déjà.'],
  ])('is told in two letters: %s', (code, text) => {
    expect(detectLanguage(text)).toBe(code);
  });

  it.each([[null], [''], ['ok'], ['1234567890 1234567890 1234']])(
    'is not guessed from %j',
    (text) => {
      expect(detectLanguage(text)).toBeNull();
    },
  );
});
