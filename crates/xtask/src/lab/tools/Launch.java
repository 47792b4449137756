/** The Grinder compares the two first numbers of Java's version with 1.6 one by one, and so takes 17.0 for older. */
public class Launch {
    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.version", "1.8.0");
        net.grinder.Grinder.main(arguments);
    }
}
